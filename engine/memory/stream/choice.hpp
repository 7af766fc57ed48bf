// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tuple>

#include "base/clock.hpp"
#include "base/std.hpp"
#include "memory/stream/job.hpp"

namespace ullage {

inline std::span<const StreamLoops* const> stream_loops_here() {
  static const std::vector<const StreamLoops*> here = [] {
    std::vector<const StreamLoops*> found;
    for (const StreamLoopsEntry& entry : Registry<StreamLoopsEntry>::instance().all())
      if (const StreamLoops* const loops = entry.loops()) found.push_back(loops);
    std::ranges::sort(found, [](const StreamLoops* one, const StreamLoops* other) {
      return std::tie(other->vector_bytes, one->instruction_set) < std::tie(one->vector_bytes, other->instruction_set);
    });
    return found;
  }();
  return here;
}

/// Loops of that kind with vectors of that many bytes, the widest first; 0: of any. None where the CPU has none.
[[nodiscard]] inline std::vector<const StreamLoops*> stream_candidates(StreamKind kind, Stores stores,
                                                                       std::size_t vector_bytes) {
  std::vector<const StreamLoops*> candidates;
  for (const StreamLoops* const loops : stream_loops_here())
    if (loops->loop(kind, stores) != nullptr && (vector_bytes == 0 || loops->vector_bytes == vector_bytes))
      candidates.push_back(loops);
  return candidates;
}

inline constexpr std::size_t least_rounds = 5;

/// Widths differ by a few percent in memory, where single trials differ by more.
inline constexpr std::int64_t enough_ns = 20'000'000;

inline std::int64_t time_ns(StreamLoop loop, const StreamJob& job) {
  const std::int64_t begun = now_ns();
  (void)loop(job);
  return now_ns() - begun;
}

/// Not the best: that is of a piece which happened to be in a cache.
inline std::int64_t median_of(std::vector<std::int64_t> times_ns) {
  if (times_ns.empty()) return 0;
  const auto middle = times_ns.begin() + static_cast<std::ptrdiff_t>(times_ns.size() / 2);
  std::ranges::nth_element(times_ns, middle);
  return *middle;
}

/// Moved by a trial: long against reading the clock, short against preparing a case.
inline constexpr std::size_t trial_bytes = std::size_t{4} << 20U;

/// The part of `job` that trial number `trial` goes through: a piece of the arrays that the trials before have not
/// touched, while there are such, or all of them more than once where they are smaller than a piece.
[[nodiscard]] inline StreamJob trial_of(const StreamJob& job, std::size_t trial) {
  const std::size_t bytes = job.blocks * job.block_bytes;
  const std::size_t pieces = std::max<std::size_t>(1, bytes / trial_bytes);
  const std::size_t at = trial % pieces * trial_bytes;
  StreamJob part = job;
  part.a += at;
  part.b += at;
  part.c += at;
  part.block_bytes = std::min(bytes, trial_bytes);
  part.blocks = 1;
  part.order = nullptr;
  part.passes = std::max<std::size_t>(1, trial_bytes / bytes);
  return part;
}

/// The one of `candidates`, of which there is one at least, that goes through the job's arrays fastest: short trials of
/// each in turn, the median of each counts. On some CPUs the widest is not it. Leaves anything in the arrays.
[[nodiscard]] inline const StreamLoops& fastest_of(const std::vector<const StreamLoops*>& candidates, StreamKind kind,
                                                   Stores stores, const StreamJob& job) {
  std::vector<std::vector<std::int64_t>> times_ns(candidates.size());
  const std::int64_t begun = now_ns();
  std::size_t trial = 0;
  for (std::size_t round = 0; candidates.size() > 1 && (round < least_rounds || now_ns() - begun < enough_ns); ++round)
    for (std::size_t i = 0; i < candidates.size(); ++i, ++trial)
      times_ns[i].push_back(time_ns(candidates[i]->loop(kind, stores), trial_of(job, trial)));
  return *candidates[static_cast<std::size_t>(std::ranges::min_element(times_ns, {}, median_of) - times_ns.begin())];
}

}  // namespace ullage
