// SPDX-License-Identifier: Apache-2.0
// Facts of the nodes that do not change during a run.
#include <sys/utsname.h>

#include <charconv>
#include <memory>
#include <system_error>

#include "base/cgroup.hpp"
#include "base/json.hpp"
#include "base/procfs.hpp"
#include "probes/probe.hpp"

namespace ullage {
namespace {

constexpr int tag_turn = 82;
constexpr int tag_facts = 83;

Json word_or_null(const std::string& path) {
  const auto word = read_word(path);
  return word ? Json(*word) : Json(nullptr);
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json number_or_null(const std::string& path) {
  const auto word = read_word(path);
  return word ? or_null(number_of(*word)) : Json(nullptr);
}

/// Reads the clock of the first CPU while the launch begins, which is the clock that is granted then, not what a loaded
/// core reaches.
Json number_of_text(const std::optional<std::string>& text) {
  double value = 0;
  if (!text) return nullptr;
  const auto read = std::from_chars(text->data(), text->data() + text->size(), value);
  return read.ec == std::errc() ? Json(value) : Json(nullptr);
}

Json bytes_or_null(const std::string& meminfo, const char* key) {
  const auto kib = number_of_key(meminfo, key);
  return kib ? Json(*kib * 1024) : Json(nullptr);
}

void add_kernel(Json& facts) {
  utsname name{};
  const bool known = uname(&name) == 0;
  facts["kernel_release"] = known ? Json(name.release) : Json(nullptr);
  facts["kernel_version"] = known ? Json(name.version) : Json(nullptr);
  facts["architecture"] = known ? Json(name.machine) : Json(nullptr);
  facts["clock_source"] = word_or_null("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  facts["pressure_readable"] = read_text("/proc/pressure/cpu").has_value();
}

void add_cpu(Json& facts) {
  const std::string cpuinfo = read_text("/proc/cpuinfo").value_or("");
  const auto flags = cpuinfo_value(cpuinfo, "flags");
  const auto ticks = parse_cpu_ticks(read_text("/proc/stat").value_or(""));
  const auto online = parse_cpu_list(read_text("/sys/devices/system/cpu/online").value_or(""));
  facts["cpu_model"] = or_null(cpuinfo_value(cpuinfo, "model name"));
  facts["cpus_online"] = online.empty() ? Json(nullptr) : Json(online.size());
  facts["cpu_mhz"] = number_of_text(cpuinfo_value(cpuinfo, "cpu MHz"));
  facts["cpu_governor"] = word_or_null("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  facts["cgroup_cpu_quota"] = or_null(cgroup_cpu_quota());
  facts["hypervisor"] = flags ? Json((" " + *flags + " ").find(" hypervisor ") != std::string::npos) : Json(nullptr);
  facts["steal_since_boot"] = ticks ? Json(ticks->steal > 0) : Json(nullptr);
}

void add_memory(Json& facts) {
  const std::string meminfo = read_text("/proc/meminfo").value_or("");
  facts["memory_bytes"] = bytes_or_null(meminfo, "MemTotal");
  facts["memory_available_bytes"] = bytes_or_null(meminfo, "MemAvailable");
  facts["swap_bytes"] = bytes_or_null(meminfo, "SwapTotal");
  facts["transparent_huge_pages"] =
      or_null(chosen_word(read_word("/sys/kernel/mm/transparent_hugepage/enabled").value_or("")));
  facts["dirty_ratio"] = number_or_null("/proc/sys/vm/dirty_ratio");
  facts["dirty_background_ratio"] = number_or_null("/proc/sys/vm/dirty_background_ratio");
}

/// Adds what the launcher granted, read back.
void add_granted(const CoreBudget& budget, std::int64_t pinned_ranks, Json& facts) {
  facts["cores_available"] = budget.cores_available;
  facts["cpus"] = cpu_list_text(budget.cpus);
  facts["pinned_ranks"] = pinned_ranks;
}

Json node_facts(const mpi::World& world, const CoreBudget& budget, std::int64_t pinned_ranks) {
  Json facts = Json::object();
  add_kernel(facts);
  add_cpu(facts);
  add_memory(facts);
  facts["ranks"] = world.topology().ranks_on_node;
  add_granted(budget, pinned_ranks, facts);
  return facts;
}

/// Has nothing to do around a phase: its facts do not change, and the run asks report_nodes() for them once.
class NodeProbe final : public Probe {
 public:
  void begin(const PhaseScope&) override {}
  void end(const PhaseScope&) override {}
  void report(const PhaseScope&, Json&) override {}
};

const Registered<ProbeEntry> registered_node{{
    .description = {.name = "node",
                    .doc = "Records the facts of each node once a run: kernel, CPUs, memory, quota, clock source, "
                           "hypervisor."},
    .make = [] { return std::make_unique<NodeProbe>(); },
}};

}  // namespace

void report_nodes(const mpi::World& world,
                  const std::function<void(const std::string& node, const Json& facts)>& sink) {
  const CoreBudget budget = core_budget(world);
  const auto pinned_ranks = static_cast<std::int64_t>(world.node().sum(budget.pinned ? 1 : 0));
  const mpi::Topology& topology = world.topology();
  Json facts;
  if (topology.leader()) facts = node_facts(world, budget, pinned_ranks);
  if (world.root()) sink(topology.node_name, facts);
  if (topology.nodes == 1) return;
  const mpi::Comm leaders =
      world.all().split(topology.leader() ? 0 : 1, topology.rank);  // a leader's rank in it is its node's number
  if (!topology.leader()) return;
  if (!world.root()) {  // on rank 0's demand, so that it never holds more than one
    (void)leaders.receive_text(0, tag_turn);
    leaders.send(topology.node_name, 0, tag_facts);
    leaders.send(json_text(facts), 0, tag_facts);
    return;
  }
  for (int node = 1; node < topology.nodes; ++node) {
    leaders.send(std::string(), node, tag_turn);
    const std::string name = leaders.receive_text(node, tag_facts);
    sink(name, parse_json(leaders.receive_text(node, tag_facts)));
  }
}

}  // namespace ullage
