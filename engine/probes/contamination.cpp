// SPDX-License-Identifier: Apache-2.0
// Who else used the machine during a phase. The leader of a kernel's ranks reads the CPU clocks of all of them at the
// same instants as the machine's idle time, so that ranks which wait busily, before or after the leader's own part, are
// not taken for others.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/procfs.hpp"
#include "base/std.hpp"
#include "mpi/agreement.hpp"
#include "probes/core_use.hpp"
#include "probes/cpu_clocks.hpp"
#include "probes/probe.hpp"

namespace ullage {
namespace {

constexpr int tag_node = 81;
constexpr std::int64_t unknown = -1;
constexpr std::int64_t kernel_threads_stay_known_ns = 1'000'000'000;
constexpr std::array<const char*, 3> pressure_files{"/proc/pressure/cpu", "/proc/pressure/io", "/proc/pressure/memory"};
constexpr const char* loopback_file = "/sys/class/net/lo/statistics/tx_bytes";
constexpr std::array<const char*, 3> pressure_keys{"pressure_cpu_ppm", "pressure_io_ppm", "pressure_memory_ppm"};

template <class T, class Parse>
std::optional<T> parsed(const char* path, Parse parse) {
  const auto text = read_text(path);
  return text ? parse(*text) : std::nullopt;
}

/// Holds what one rank has used so far, read at either end of a phase.
struct RankReading {
  std::int64_t at_ns = 0;
  std::int64_t cpu_ns = 0;
  std::uint64_t involuntary_switches = 0;
  std::map<std::string, std::uint64_t> waited_ns;  // by thread: for a core
  std::int64_t chain_ns = 0;
};

/// Without threads that end meanwhile, and where the kernel does not count it, without any.
std::map<std::string, std::uint64_t> waited_by_thread_ns() {
  std::map<std::string, std::uint64_t> waited;
  std::error_code none;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", none)) {
    const auto delay_ns = parsed<std::uint64_t>((thread.path() / "schedstat").c_str(), parse_run_delay_ns);
    if (delay_ns) waited[thread.path().filename().string()] = *delay_ns;
  }
  return waited;
}

RankReading read_rank() {
  RankReading reading;
  reading.chain_ns = clock_chain_ns();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  reading.involuntary_switches = static_cast<std::uint64_t>(usage.ru_nivcsw);
  reading.cpu_ns = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1'000'000'000 +
                   (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1'000;
  reading.waited_ns = waited_by_thread_ns();
  reading.at_ns = now_ns();
  return reading;
}

/// Holds what a whole running kernel has used so far, read by the leader of its ranks.
struct KernelReading {
  std::int64_t at_ns = 0;
  std::optional<CpuTicks> ticks;
  std::vector<std::int64_t> ranks_ns;
  std::vector<std::int64_t> threads_ns;
  std::array<std::optional<std::uint64_t>, 3> pressure_us;
  std::optional<std::uint64_t> loopback_bytes;
};

std::uint64_t growth(std::uint64_t before, std::uint64_t after) { return after > before ? after - before : 0; }

std::int64_t growth_ppm(std::optional<std::uint64_t> before, std::optional<std::uint64_t> after, std::int64_t unit_ns,
                        std::int64_t wall_ns) {
  if (!before || !after || wall_ns <= 0) return unknown;
  const double share =
      static_cast<double>(growth(*before, *after)) * static_cast<double>(unit_ns) / static_cast<double>(wall_ns);
  return static_cast<std::int64_t>(std::min(1.0, share) * 1e6);
}

/// Returns how long the thread waited that waited longest, since a phase ends with its last thread.
std::uint64_t longest_wait_ns(const RankReading& before, const RankReading& after) {
  std::uint64_t longest = 0;
  for (const auto& [thread, waited_ns] : after.waited_ns) {
    const auto known = before.waited_ns.find(thread);
    longest = std::max(longest, known == before.waited_ns.end() ? waited_ns : growth(known->second, waited_ns));
  }
  return longest;
}

/// Says where the results that are reduced by their maximum lie.
enum Worst : std::size_t {
  foreign,
  steal,
  kernel,
  uncertainty,
  pressure,
  drift = pressure + 3,
  waited,
  cores_per_1000_ranks,
  waits_unknown,
  threads_unknown,
  unreadable,
  worst_count
};
using WorstValues = std::array<std::int64_t, worst_count>;

class ContaminationProbe final : public Probe {
 public:
  void begin(const PhaseScope& scope) override {
    if (!set_up_) set_up(*scope.world);
    rank_before_ = read_rank();
    if (leads_) kernel_before_ = read_kernel();
  }

  void end(const PhaseScope&) override {
    if (leads_) kernel_after_ = read_kernel();
    rank_after_ = read_rank();
  }

  /// What happened while the leader was done and others were not counts too.
  void settle(const PhaseScope&) override {
    if (leads_) kernel_after_ = read_kernel();
  }

  void report(const PhaseScope& scope, Json& record) override {
    const mpi::World& world = *scope.world;
    WorstValues worst = own_values(world);
    const std::int64_t others_here = std::max<std::int64_t>(0, worst[foreign] + worst[steal]);
    world.all().max_all(worst);
    const std::uint64_t switches =
        world.all().sum(growth(rank_before_.involuntary_switches, rank_after_.involuntary_switches));
    Evidence evidence = evidence_from(worst);
    if (grade_of(evidence) != 'A') evidence.worst_node = name_of_worst(world, leads_ ? others_here : unknown);
    if (world.root()) fill(worst, switches, evidence, record);
    if (world.root() && leads_ && record["contamination"].is_object()) add_loopback(record["contamination"]);
    if (leads_ && now_ns() - threads_listed_ns_ > kernel_threads_stay_known_ns) list_kernel_threads();
  }

 private:
  /// Collective over the ranks of a kernel, before the first phase: their leader learns their process numbers.
  void set_up(const mpi::World& world) {
    const mpi::Comm& kernel = world.kernel();
    std::vector<std::int64_t> pids;
    mpi::allocate_or_throw(world.all(), [&] { pids.assign(static_cast<std::size_t>(kernel.size()), 0); });
    set_up_ = true;
    leads_ = kernel.rank() == 0;
    struct stat space{};
    const std::int64_t mine =
        stat("/proc/self/ns/pid", &space) == 0 ? static_cast<std::int64_t>(space.st_ino) : unknown;
    visible_ = kernel.broadcast(mine, 0) == mine;
    some_invisible_ = !kernel.all(visible_);
    if (visible_) pids[static_cast<std::size_t>(kernel.rank())] = getpid();
    kernel.max_all(pids);
    const CoreBudget budget = core_budget(world);
    oversubscribed_ = world.all().any(kernel.size() > budget.cores_available);
    if (!leads_) return;
    const long ticks_per_second = sysconf(_SC_CLK_TCK);
    if (ticks_per_second > 0) tick_ns_ = 1'000'000'000 / ticks_per_second;
    std::vector<int> known;
    for (const std::int64_t pid : pids)
      if (pid > 0) known.push_back(static_cast<int>(pid));
    ranks_ = CpuClocks(known);
    list_kernel_threads();
  }

  void list_kernel_threads() {
    const auto threads = kernel_threads();
    threads_known_ = threads.has_value();
    threads_ = CpuClocks(threads.value_or(std::vector<int>{}));
    threads_listed_ns_ = now_ns();
  }

  [[nodiscard]] KernelReading read_kernel() const {
    KernelReading reading;
    for (std::size_t i = 0; i < pressure_files.size(); ++i)
      reading.pressure_us[i] = parsed<std::uint64_t>(pressure_files[i], parse_pressure_us);
    reading.threads_ns = threads_.read_ns();
    reading.ranks_ns = ranks_.read_ns();
    reading.at_ns = now_ns();
    reading.ticks = parsed<CpuTicks>("/proc/stat", parse_cpu_ticks);
    reading.loopback_bytes =
        parsed<std::uint64_t>(loopback_file, [](std::string_view text) { return number_of(trimmed(text)); });
    return reading;
  }

  [[nodiscard]] CoreUse core_use(std::int64_t invisible_ns) const {
    const CpuTicks& before = *kernel_before_.ticks;
    const CpuTicks& after = *kernel_after_.ticks;
    const auto time_ns = [this](std::uint64_t from, std::uint64_t to) {
      return static_cast<std::int64_t>(growth(from, to)) * tick_ns_;
    };
    return {.wall_ns = kernel_after_.at_ns - kernel_before_.at_ns,
            .cpus = after.cpus,
            .idle_ns = time_ns(before.idle, after.idle) + time_ns(before.iowait, after.iowait),
            .steal_ns = time_ns(before.steal, after.steal),
            .interrupt_ns = time_ns(before.irq, after.irq) + time_ns(before.softirq, after.softirq),
            .own_ns = CpuClocks::used_ns(kernel_before_.ranks_ns, kernel_after_.ranks_ns) + invisible_ns,
            .kernel_ns = CpuClocks::used_ns(kernel_before_.threads_ns, kernel_after_.threads_ns),
            .tick_ns = tick_ns_};
  }

  [[nodiscard]] WorstValues own_values(const mpi::World& world) const {
    WorstValues worst{};
    worst[foreign] = std::numeric_limits<std::int64_t>::min();  // the grain may make a leader's negative
    std::fill_n(worst.begin() + pressure, pressure_files.size(), unknown);
    worst[drift] = rank_before_.chain_ns > 0
                       ? std::llabs(rank_after_.chain_ns - rank_before_.chain_ns) * 1'000'000 / rank_before_.chain_ns
                       : unknown;
    const std::int64_t mine_ns = visible_ ? 0 : std::max<std::int64_t>(0, rank_after_.cpu_ns - rank_before_.cpu_ns);
    const auto invisible_ns =
        some_invisible_ ? static_cast<std::int64_t>(world.kernel().sum(static_cast<std::uint64_t>(mine_ns))) : 0;
    std::array<std::uint64_t, 2> waits{longest_wait_ns(rank_before_, rank_after_),
                                       static_cast<std::uint64_t>(rank_after_.at_ns - rank_before_.at_ns)};
    world.kernel().sum_all(waits);
    worst[waited] = growth_ppm(0, waits[0], 1, static_cast<std::int64_t>(waits[1]));
    worst[waits_unknown] = rank_after_.waited_ns.empty() ? 1 : 0;
    if (!leads_) return worst;
    const std::int64_t wall_ns = kernel_after_.at_ns - kernel_before_.at_ns;
    for (std::size_t i = 0; i < pressure_files.size(); ++i)
      worst[pressure + i] = growth_ppm(kernel_before_.pressure_us[i], kernel_after_.pressure_us[i], 1'000, wall_ns);
    worst[threads_unknown] = threads_known_ ? 0 : 1;
    worst[unreadable] = kernel_before_.ticks && kernel_after_.ticks ? 0 : 1;
    if (worst[unreadable] != 0) return worst;
    worst[cores_per_1000_ranks] = kernel_after_.ticks->cpus * 1000 / world.kernel().size();
    const CoreShares shares = shares_of(core_use(invisible_ns));
    worst[foreign] = shares.foreign_ppm;
    worst[steal] = shares.steal_ppm;
    worst[kernel] = shares.kernel_ppm;
    worst[uncertainty] = shares.uncertainty_ppm;
    return worst;
  }

  [[nodiscard]] Evidence evidence_from(const WorstValues& worst) const {
    Evidence evidence;
    evidence.shares = {worst[foreign], worst[steal], worst[kernel], worst[uncertainty]};
    evidence.kernel_threads_known = worst[threads_unknown] == 0;
    evidence.oversubscribed = oversubscribed_;
    evidence.readable = worst[unreadable] == 0;
    if (worst[waits_unknown] == 0) evidence.run_delay_ppm = worst[waited];
    evidence.cores_per_rank = static_cast<double>(worst[cores_per_1000_ranks]) / 1000;
    evidence.clock_drift_ppm = worst[drift];
    evidence.pressure_cpu_ppm = worst[pressure];
    evidence.pressure_memory_ppm = worst[pressure + 2];
    return evidence;
  }

  /// On rank 0: the node whose leader has most of it.
  [[nodiscard]] static std::string name_of_worst(const mpi::World& world, std::int64_t value) {
    const int rank = world.all().max_location(value).rank;
    if (rank == 0) return world.topology().node_name;
    if (world.rank() == rank) world.all().send(world.topology().node_name, 0, tag_node);
    return world.root() ? world.all().receive_text(rank, tag_node) : std::string();
  }

  /// Of the node of rank 0. Messages by TCP between ranks of a node pass the loopback device, by whatever address.
  void add_loopback(Json& found) const {
    if (kernel_before_.loopback_bytes && kernel_after_.loopback_bytes)
      found["loopback_bytes"] = growth(*kernel_before_.loopback_bytes, *kernel_after_.loopback_bytes);
  }

  static void fill(const WorstValues& worst, std::uint64_t switches, const Evidence& evidence, Json& record) {
    const auto known = [](std::int64_t value) { return value == unknown ? Json(nullptr) : Json(value); };
    if (worst[unreadable] != 0) {
      record["contamination"] = nullptr;  // /proc/stat of some node cannot be read
      record["grade"] = std::string(1, grade_of(evidence));
      return;
    }
    Json found{{"foreign_cpu_ppm", worst[foreign]},
               {"steal_ppm", worst[steal]},
               {"kernel_threads_ppm", evidence.kernel_threads_known ? Json(worst[kernel]) : Json(nullptr)},
               {"involuntary_switches", switches},
               {"uncertainty_ppm", worst[uncertainty]},
               {"clock_drift_ppm", known(worst[drift])},
               {"run_delay_ppm", known(evidence.run_delay_ppm)},
               {"cores_per_rank", evidence.cores_per_rank},
               {"oversubscribed", evidence.oversubscribed},
               {"reasons", reasons_of(evidence)}};
    for (std::size_t i = 0; i < pressure_keys.size(); ++i) found[pressure_keys[i]] = known(worst[pressure + i]);
    record["contamination"] = std::move(found);
    record["grade"] = std::string(1, grade_of(evidence));
  }

  bool set_up_ = false;
  bool leads_ = false;
  bool visible_ = true;          // to the leader
  bool some_invisible_ = false;  // among the ranks of this kernel
  bool oversubscribed_ = false;
  bool threads_known_ = false;
  std::int64_t tick_ns_ = 10'000'000;
  std::int64_t threads_listed_ns_ = 0;
  CpuClocks ranks_;
  CpuClocks threads_;
  RankReading rank_before_;
  RankReading rank_after_;
  KernelReading kernel_before_;
  KernelReading kernel_after_;
};

const Registered<ProbeEntry> registered_contamination{{
    .description = {.name = "contamination",
                    .doc = "Reads the use of the cores by others, steal, pressure, involuntary switches and clock "
                           "drift around each phase. The phase's grade follows from them."},
    .make = [] { return std::make_unique<ContaminationProbe>(); },
}};

}  // namespace
}  // namespace ullage
