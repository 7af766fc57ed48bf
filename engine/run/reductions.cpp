// SPDX-License-Identifier: Apache-2.0
#include "run/reductions.hpp"

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/procfs.hpp"
#include "mpi/agreement.hpp"
#include "mpi/comm.hpp"
#include "run/heartbeats.hpp"
#include "run/node_ring.hpp"
#include "run/phase_result.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t made_up_bytes = 4096;
constexpr std::int64_t made_up_ns = 1'000'000;
constexpr std::uint64_t most_failures = 8;

/// Sum of 0 .. count - 1.
std::uint64_t sum_below(std::uint64_t count) { return count * (count - 1) / 2; }

Error made_up_error(int rank) {
  return errno_error(ENOSPC, "write", "/nowhere/" + std::to_string(rank), made_up_bytes);
}

/// Does what ranks do together, on made-up accounts that differ by rank. Each says whether this rank has what it must
/// have.
class Reductions final {
 public:
  [[nodiscard]] const mpi::World& world() const { return world_; }
  [[nodiscard]] const Json& record() const { return record_; }

  [[nodiscard]] bool make_world() {
    const mpi::World made;
    return made.rank() == world_.rank() && made.topology().nodes == world_.topology().nodes;
  }

  [[nodiscard]] bool watch_each_other() {
    const Heartbeats heartbeats(world_);
    const NodeRing ring(world_);
    return world_.topology().ranks_on_node > 0;
  }

  [[nodiscard]] bool split() {
    const mpi::Comm halves = all().split_by_text(world_.rank() % 2 == 0 ? "even" : "odd");
    return halves.rank() == world_.rank() / 2;
  }

  [[nodiscard]] bool agree() {
    return mpi::agree(all(), {}).everywhere && all().any(world_.rank() + 1 == world_.size());
  }

  [[nodiscard]] bool share_an_error() {
    const int failing = world_.size() / 2;
    const Status own = world_.rank() == failing ? fail(made_up_error(failing)) : Status{};
    const Status shared = mpi::share_status(all(), own);
    return !shared && shared.error().where == "/nowhere/" + std::to_string(failing);
  }

  [[nodiscard]] bool broadcast_a_plan() {
    constexpr std::size_t plan_bytes = 64 << 10;
    const std::string text = all().broadcast(world_.root() ? std::string(plan_bytes, 'p') : std::string(), 0);
    return text.size() == plan_bytes && text.back() == 'p';
  }

  [[nodiscard]] bool find_the_slowest() {
    const auto slowest = all().max_location(world_.rank());
    return slowest.rank + 1 == world_.size() && slowest.value == slowest.rank;
  }

  [[nodiscard]] bool sum_before() {
    const auto rank = static_cast<std::uint64_t>(world_.rank());
    return all().sum_before(rank) == (rank == 0 ? 0 : sum_below(rank));
  }

  [[nodiscard]] bool add_histograms() {
    std::vector<std::uint64_t> counts(Histogram::bucket_count + 1, 1);
    all().sum_to_root(counts, 0);
    const auto ranks = static_cast<std::uint64_t>(world_.size());
    return !world_.root() || std::ranges::all_of(counts, [&](std::uint64_t count) { return count == ranks; });
  }

  [[nodiscard]] bool name_failures() {
    const Json failures = gather_failures(world_, made_up_error(world_.rank()));
    if (!world_.root()) return true;
    const auto expected = std::min<std::uint64_t>(most_failures, static_cast<std::uint64_t>(world_.size()));
    return failures.size() == expected && failures.back()["rank"] == expected - 1;
  }

  /// Rank r ends r ns later than rank 0 and moves r bytes more.
  [[nodiscard]] bool make_a_record() {
    const auto rank = static_cast<std::uint64_t>(world_.rank());
    RankResult result;
    for (StageTime& stage : result.stages) stage = {0, made_up_ns + world_.rank()};
    result.origin_ns = now_ns();
    meter_->start(result.origin_ns);
    (void)meter_->completed(made_up_bytes + rank);
    record_ = Json::object();
    const PhaseInfo info{.name = "write", .access = Access::write};
    const std::int64_t elapsed = reduce_phase(world_, result, info, *meter_, record_);
    if (!world_.root()) return elapsed == made_up_ns + world_.size() - 1;
    const auto ranks = static_cast<std::uint64_t>(world_.size());
    return record_["bytes"] == ranks * made_up_bytes + sum_below(ranks) && record_["operations"] == ranks &&
           record_["latency"]["operations"] == ranks && record_["by_rank"]["slowest"][0]["rank"] == ranks - 1;
  }

 private:
  [[nodiscard]] const mpi::Comm& all() const { return world_.all(); }

  mpi::World world_;
  std::unique_ptr<Meter> meter_ = std::make_unique<Meter>();
  Json record_;
};

using ReductionStep = bool (Reductions::*)();
constexpr std::array<std::pair<const char*, ReductionStep>, 11> reduction_steps{{
    {"communicators", &Reductions::make_world},
    {"watch", &Reductions::watch_each_other},
    {"split", &Reductions::split},
    {"plan", &Reductions::broadcast_a_plan},
    {"agreement", &Reductions::agree},
    {"shared error", &Reductions::share_an_error},
    {"slowest rank", &Reductions::find_the_slowest},
    {"sum before", &Reductions::sum_before},
    {"histogram", &Reductions::add_histograms},
    {"failures", &Reductions::name_failures},
    {"record", &Reductions::make_a_record},
}};

/// Collective: each time is the slowest rank's, from a barrier on.
Json measure_step(Reductions& reductions, const char* name, ReductionStep step, std::size_t times) {
  const mpi::Comm& all = reductions.world().all();
  std::vector<std::int64_t> took_ns;
  bool is_right = true;
  for (std::size_t i = 0; i < times; ++i) {
    all.barrier();
    const std::int64_t start = now_ns();
    is_right = (reductions.*step)() && is_right;
    took_ns.push_back(now_ns() - start);
  }
  all.max_all(took_ns);
  is_right = all.all(is_right);
  std::ranges::sort(took_ns);
  return {{"name", name}, {"right", is_right}, {"median_ns", took_ns[took_ns.size() / 2]}, {"least_ns", took_ns[0]}};
}

/// Collective: most and sum over the ranks.
Json memory_json(const mpi::Comm& all, const ProcessMemory& mine) {
  std::array<std::uint64_t, 3> sums{mine.resident_bytes, mine.proportional_bytes, mine.private_bytes};
  std::array<std::int64_t, 3> most{};
  std::ranges::transform(sums, most.begin(), [](std::uint64_t value) { return static_cast<std::int64_t>(value); });
  all.sum_all(sums);
  all.max_all(most);
  constexpr std::array names{"resident", "proportional", "private"};
  Json memory = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) memory[names[i]] = {{"most", most[i]}, {"sum", sums[i]}};
  return memory;
}

}  // namespace

ProcessMemory process_memory() {
  const std::string text = read_text("/proc/self/smaps_rollup").value_or("");
  const auto bytes = [&](const char* key) { return number_of_key(text, key).value_or(0) * 1024; };
  return {bytes("Rss"), bytes("Pss"), bytes("Private_Clean") + bytes("Private_Dirty")};
}

Json measure_reductions(const ProcessMemory& before, std::size_t times) {
  Reductions reductions;
  const mpi::World& world = reductions.world();
  const Json memory_before = memory_json(world.all(), before);
  Json steps = Json::array();
  for (const auto& [name, step] : reduction_steps) steps.push_back(measure_step(reductions, name, step, times));
  const Json memory_after = memory_json(world.all(), process_memory());
  if (!world.root()) return nullptr;
  return {{"ranks", world.size()},
          {"nodes", world.topology().nodes},
          {"times", times},
          {"memory", {{"before", memory_before}, {"after", memory_after}}},
          {"record_bytes", json_text(reductions.record()).size()},
          {"steps", std::move(steps)}};
}

Status all_right(const Json& reductions) {
  std::string wrong;
  for (const Json& step : reductions["steps"])
    if (!step["right"].get<bool>()) wrong += (wrong.empty() ? "" : ", ") + step["name"].get<std::string>();
  if (wrong.empty()) return {};
  return fail(environment_error("selftest reductions", "ranks do not get what they must in: " + wrong));
}

}  // namespace ullage
