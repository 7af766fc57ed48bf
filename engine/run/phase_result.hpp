// SPDX-License-Identifier: Apache-2.0
// One rank's account of a phase, and its reduction over all ranks into a record. O(1) memory a rank.
#pragma once

#include <sys/resource.h>

#include <cmath>

#include "base/json.hpp"
#include "base/meter.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "mpi/clock_sync.hpp"
#include "mpi/comm.hpp"
#include "work/phase_work.hpp"

namespace ullage {

enum Stage : std::size_t { stage_open, stage_transfer, stage_sync, stage_close, stage_count };

/// Stamps are on rank 0's clock, from the run's origin.
struct StageTime {
  std::int64_t start_ns = 0;
  std::int64_t stop_ns = 0;
};

/// `minor`: the page was in memory, or new; `major`: a device had to be read for it.
struct PageFaults {
  std::uint64_t minor = 0;
  std::uint64_t major = 0;
};

/// Returns those of this process until now.
[[nodiscard]] inline PageFaults process_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {static_cast<std::uint64_t>(usage.ru_minflt), static_cast<std::uint64_t>(usage.ru_majflt)};
}

struct AtWall {
  std::int64_t stop_ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t operations = 0;
};

struct RankResult {
  std::array<StageTime, stage_count> stages{};
  bool synced = false;  // had a sync stage of its own
  std::int64_t prepare_ns = 0;
  std::int64_t paused_ns = 0;  // of those, what stamps leave out; the sync's and later ones as far as it was shorter
  std::uint64_t cpu_ns = 0;    // user and system time of this rank's process from before open to after close
  PageFaults faults;           // of the same process and time
  std::optional<AtWall> at_wall;
  bool wear_out_cut = false;     // its limit came before the largest count was reached
  mpi::ClockLine clock;          // from this rank's clock to rank 0's
  std::int64_t origin_ns = 0;    // of the stamps above, on rank 0's clock
  std::int64_t residual_ns = 0;  // how wrong the stamps may be
  std::string clock_measured;    // before, around; empty where all ranks read one clock
  std::optional<Error> error;
  Verification verification;

  [[nodiscard]] std::int64_t to_common(std::int64_t local_ns) const { return clock.to_root(local_ns) - origin_ns; }
  [[nodiscard]] std::int64_t to_local(std::int64_t stamp_ns) const { return clock.to_local(stamp_ns + origin_ns); }
};

/// First starts and last stops of all stages, and the longest a single rank spent in each: three collectives for
/// everything.
struct Extremes {
  std::array<std::int64_t, stage_count> first_start{};
  std::array<std::int64_t, stage_count> last_stop{};
  std::array<std::int64_t, stage_count> longest{};
};

inline Extremes reduce_stages(const mpi::World& world, const RankResult& result) {
  std::array<std::int64_t, stage_count> starts{};
  std::array<std::int64_t, 2 * stage_count> stops{};
  for (std::size_t s = 0; s < stage_count; ++s) {
    starts[s] = result.stages[s].start_ns;
    stops[s] = result.stages[s].stop_ns;
    stops[stage_count + s] = result.stages[s].stop_ns - result.stages[s].start_ns;
  }
  world.all().min_all(starts);
  world.all().max_all(stops);
  Extremes extremes;
  extremes.first_start = starts;
  std::copy_n(stops.begin(), stage_count, extremes.last_stop.begin());
  std::copy_n(stops.begin() + stage_count, stage_count, extremes.longest.begin());
  return extremes;
}

inline constexpr std::array<const char*, stage_count> stage_names{"open", "transfer", "sync", "close"};

inline Json stages_json(const Extremes& extremes, bool synced) {
  Json stages = Json::object();
  for (std::size_t s = 0; s < stage_count; ++s) {
    if (s == stage_sync && !synced) continue;
    stages[stage_names[s]] = {{"first_start_ns", extremes.first_start[s]},
                              {"last_stop_ns", extremes.last_stop[s]},
                              {"longest_ns", extremes.longest[s]}};
  }
  return stages;
}

inline Json done_json(std::int64_t elapsed_ns, std::uint64_t bytes, std::uint64_t operations) {
  return {{"elapsed_ns", elapsed_ns}, {"bytes", bytes}, {"operations", operations}};
}

/// When this rank's own clock, which goes on in pauses, has a moment of its transfer stage: pauses are spread evenly.
inline std::int64_t with_pauses(const RankResult& result, std::int64_t local_ns) {
  const StageTime& stage = result.stages[stage_transfer];
  const std::int64_t start_ns = result.to_local(stage.start_ns);
  const auto span_ns = static_cast<double>(std::max<std::int64_t>(stage.stop_ns - stage.start_ns, 1));
  const double longer = 1 + static_cast<double>(result.paused_ns) / span_ns;
  return start_ns + std::llround(static_cast<double>(local_ns - start_ns) * longer);
}

/// Returns what was complete, over all ranks, when the first of them had done its last operation.
inline Json first_done(const mpi::World& world, const RankResult& result, Meter& meter, std::int64_t start_ns) {
  const std::int64_t first_ns = world.all().min(result.stages[stage_transfer].stop_ns);
  const TimeSeries::Total mine = meter.series().until(with_pauses(result, result.to_local(first_ns)));
  std::array<std::uint64_t, 2> total{mine.bytes, mine.operations};
  world.all().sum_all(total);
  return done_json(first_ns - start_ns, total[0], total[1]);
}

inline Json stonewall_json(const mpi::World& world, const RankResult& result, const PhaseInfo& info,
                           std::int64_t start_ns) {
  const AtWall wall = result.at_wall.value_or(AtWall{});
  const std::int64_t stop_ns = world.all().max(wall.stop_ns);
  std::array<std::uint64_t, 2> total{wall.bytes, wall.operations};
  world.all().sum_all(total);
  const auto operations = static_cast<std::int64_t>(wall.operations);
  const std::int64_t least = world.all().min(operations);
  const std::int64_t most = world.all().max(operations);
  return {{"deadline_ns", info.stonewall_ns}, {"at_wall", done_json(stop_ns - start_ns, total[0], total[1])},
          {"wear_out", info.wear_out},        {"cut", world.all().any(result.wear_out_cut)},
          {"least_operations", least},        {"most_operations", most}};
}

inline Json latency_json(const mpi::World& world, const Histogram& mine) {
  std::vector<std::uint64_t> counts(mine.counts().begin(), mine.counts().end());
  counts.push_back(mine.sum_ns());
  world.all().sum_to_root(counts, 0);
  const auto least =
      mine.operations() == 0 ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(mine.min_ns());
  const auto min_ns = static_cast<std::uint64_t>(world.all().min(least));
  const auto max_ns = static_cast<std::uint64_t>(world.all().max(static_cast<std::int64_t>(mine.max_ns())));
  if (!world.root()) return nullptr;
  const std::uint64_t sum_ns = counts.back();
  Histogram merged;
  merged.assign(std::span<const std::uint64_t>(counts).first<Histogram::bucket_count>(), sum_ns, min_ns, max_ns);
  if (merged.operations() == 0) return nullptr;
  Json buckets = Json::array();
  for (std::size_t i = 0; i < Histogram::bucket_count; ++i)
    if (counts[i] != 0) buckets.push_back({i, counts[i]});
  return {{"operations", merged.operations()},  {"sum_ns", sum_ns},
          {"min_ns", merged.min_ns()},          {"max_ns", max_ns},
          {"p50_ns", merged.quantile_ns(0.5)},  {"p95_ns", merged.quantile_ns(0.95)},
          {"p99_ns", merged.quantile_ns(0.99)}, {"p999_ns", merged.quantile_ns(0.999)},
          {"buckets", std::move(buckets)}};
}

/// Added up over the ranks by one time axis, which begins when the first of them began to transfer.
inline Json series_json(const mpi::World& world, const RankResult& result, std::int64_t first_start_ns, Meter& meter) {
  TimeSeries& series = meter.series();
  const std::int64_t offset_ns = std::max<std::int64_t>(result.stages[stage_transfer].start_ns - first_start_ns, 0);
  series.widen_to(world.all().max(series.interval_with_room(offset_ns)));
  const TimeSeries::Placed mine = series.placed(offset_ns);
  const auto used = static_cast<std::size_t>(world.all().max(static_cast<std::int64_t>(mine.used)));
  std::vector<std::uint64_t> values(mine.bytes.begin(), mine.bytes.end());
  values.insert(values.end(), mine.operations.begin(), mine.operations.end());
  world.all().sum_to_root(values, 0);
  if (!world.root()) return nullptr;
  const auto operations = values.begin() + TimeSeries::interval_count;
  return {{"interval_ns", series.interval_ns()},
          {"bytes", std::vector<std::uint64_t>(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(used))},
          {"operations", std::vector<std::uint64_t>(operations, operations + static_cast<std::ptrdiff_t>(used))}};
}

/// Returns how well the stamps are known, by the worst of all ranks.
inline Json clocks_json(const mpi::Comm& all, const RankResult& result) {
  std::array<double, 1> drift{std::abs(result.clock.drift())};
  all.max_all(drift);
  return {{"measured", result.clock_measured},
          {"residual_ns", all.max(result.residual_ns)},
          {"drift_ppm", drift[0] * 1e6},
          {"jumped", all.any(result.clock.has_jumped())}};
}

inline constexpr std::size_t slowest_named = 4;

inline constexpr int tag_text = 71;

/// Returns what `rank` has to say, on root. `mine` is looked at on that rank only.
inline Json told_to_root(const mpi::World& world, int rank, const Json& mine) {
  if (rank == 0) return mine;
  if (world.rank() == rank) world.all().send(json_text(mine), 0, tag_text);
  return world.root() ? parse_json(world.all().receive_text(rank, tag_text)) : Json();
}

inline Json rank_time(const mpi::World& world, int rank, std::int64_t elapsed_ns, std::uint64_t bytes) {
  const Json mine{
      {"rank", world.rank()}, {"node", world.topology().node_name}, {"elapsed_ns", elapsed_ns}, {"bytes", bytes}};
  return told_to_root(world, rank, mine);
}

inline Json by_rank(const mpi::World& world, const RankResult& result, const Meter& meter) {
  const std::int64_t elapsed = result.stages[stage_close].stop_ns - result.stages[stage_open].start_ns;
  const auto bytes = static_cast<std::int64_t>(meter.bytes());
  const auto fastest = world.all().min_location(elapsed);
  Json ranks{{"fastest", rank_time(world, fastest.rank, elapsed, meter.bytes())}, {"slowest", Json::array()}};
  bool named = false;
  for (std::size_t i = 0; i < std::min(slowest_named, static_cast<std::size_t>(world.size())); ++i) {
    const auto slowest = world.all().max_location(named ? -1 : elapsed);
    named = named || slowest.rank == world.rank();
    ranks["slowest"].push_back(rank_time(world, slowest.rank, elapsed, meter.bytes()));
  }
  std::array<std::uint64_t, 1> sum_ns{static_cast<std::uint64_t>(std::max<std::int64_t>(elapsed, 0))};
  world.all().sum_to_root(sum_ns, 0);
  ranks["mean_ns"] = sum_ns[0] / static_cast<std::uint64_t>(world.size());
  ranks["least_bytes"] = world.all().min(bytes);
  ranks["most_bytes"] = world.all().max(bytes);
  return ranks;
}

inline constexpr std::size_t failures_named = 8;

inline Json failure_json(const mpi::World& world, const Error& error) {
  Json failure{{"rank", world.rank()}, {"node", world.topology().node_name}, {"operation", error.operation},
               {"path", error.where},  {"errno", error.errno_value},         {"text", error.text}};
  if (error.offset_bytes) failure["offset_bytes"] = *error.offset_bytes;
  if (!error.expected.empty()) failure["expected"] = error.expected;
  if (!error.found.empty()) failure["found"] = error.found;
  return failure;
}

/// Collective. The errors of the lowest ranks that have one of their own (at most 8), as the record's failures, on rank
/// 0.
[[nodiscard]] inline nlohmann::json gather_failures(const mpi::World& world, const std::optional<Error>& error) {
  constexpr std::int64_t nobody = std::numeric_limits<std::int64_t>::max();
  Json failures = Json::array();
  bool told = !error || error->is_of_another_rank;
  for (std::size_t i = 0; i < failures_named; ++i) {
    const std::int64_t lowest = world.all().min(told ? nobody : world.rank());
    if (lowest == nobody) break;
    told = told || lowest == world.rank();
    Json failure = told_to_root(world, static_cast<int>(lowest), error ? failure_json(world, *error) : Json());
    if (world.root()) failures.push_back(std::move(failure));
  }
  return failures;
}

/// Collective. Fills `record` on rank 0 with stages, totals, done, stonewall, latency, series, by_rank and failures.
/// Returns the phase's elapsed time on every rank.
[[nodiscard]] inline std::int64_t reduce_phase(const mpi::World& world, const RankResult& result, const PhaseInfo& info,
                                               Meter& meter, Json& record) {
  const Extremes extremes = reduce_stages(world, result);
  const std::int64_t start_ns = extremes.first_start[stage_open];
  const std::int64_t elapsed_ns = extremes.last_stop[stage_close] - start_ns;
  std::array<std::uint64_t, 7> totals{meter.bytes(),  meter.operations(),  meter.syncs(),      result.cpu_ns,
                                      meter.stamps(), result.faults.minor, result.faults.major};
  world.all().sum_all(totals);
  record["start_ns"] = start_ns;
  record["elapsed_ns"] = elapsed_ns;
  record["bytes"] = totals[0];
  record["operations"] = totals[1];
  record["syncs"] = totals[2];
  record["cpu_ns"] = totals[3];
  record["minor_faults"] = totals[5];
  record["major_faults"] = totals[6];
  record["stages"] = stages_json(extremes, world.all().any(result.synced));
  record["first_done"] = first_done(world, result, meter, start_ns);
  record["last_done"] = done_json(extremes.last_stop[stage_transfer] - start_ns, totals[0], totals[1]);
  record["prepare_ns"] = world.all().max(result.prepare_ns);
  record["clock_stops"] = info.clock_stops;
  record["stonewall"] = info.stonewall_ns > 0 ? stonewall_json(world, result, info, start_ns) : Json(nullptr);
  record["latency"] = latency_json(world, meter.histogram());
  record["stamped_every"] = totals[4] == 0 ? 1.0 : static_cast<double>(totals[1]) / static_cast<double>(totals[4]);
  for (std::size_t i = 0; i < info.parts.size(); ++i)
    record["latency_parts"][info.parts[i]] = latency_json(world, meter.parts()[i]);
  record["series"] = series_json(world, result, extremes.first_start[stage_transfer], meter);
  record["by_rank"] = by_rank(world, result, meter);
  if (!result.clock_measured.empty()) record["clock"] = clocks_json(world.all(), result);
  record["failures"] = gather_failures(world, result.error);
  return elapsed_ns;
}

/// Collective: what the ranks have counted, added up.
[[nodiscard]] inline nlohmann::json counters_json(const mpi::Comm& all, const Counters& counters) {
  std::vector<std::uint64_t> values;
  for (const auto& [name, value] : counters) values.push_back(value);
  if (!values.empty()) all.sum_all(values);
  Json sums = Json::object();
  std::size_t i = 0;
  for (const auto& [name, value] : counters) sums[name] = values[i++];
  return sums;
}

/// Collective: sum, least and most of what the ranks have measured.
[[nodiscard]] inline nlohmann::json gauges_json(const mpi::Comm& all, const Gauges& gauges) {
  std::vector<double> sums;
  for (const auto& [name, value] : gauges) sums.push_back(value);
  std::vector<double> least = sums;
  std::vector<double> most = sums;
  if (!sums.empty()) {
    all.sum_all(sums);
    all.min_all(least);
    all.max_all(most);
  }
  Json reduced = Json::object();
  std::size_t i = 0;
  for (const auto& [name, value] : gauges) {
    reduced[name] = {{"sum", sums[i]}, {"least", least[i]}, {"most", most[i]}};
    ++i;
  }
  return reduced;
}

}  // namespace ullage
