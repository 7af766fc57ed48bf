// SPDX-License-Identifier: Apache-2.0
#include "memory/stream_choice.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "core/clock.hpp"

namespace ullage {
namespace {

/// Moved by a trial: long against reading the clock, short against preparing a case.
constexpr std::size_t trial_bytes = std::size_t{4} << 20U;
constexpr std::size_t trials_of_each = 5;

std::int64_t time_ns(StreamLoop loop, const StreamJob& job) {
  const std::int64_t begun = now_ns();
  (void)loop(job);
  return now_ns() - begun;
}

}  // namespace

std::span<const StreamLoops* const> stream_loops_here() {
  static const std::vector<const StreamLoops*> here = [] {
    std::vector<const StreamLoops*> found{stream_loops_avx512(), stream_loops_avx2(), stream_loops_baseline()};
    std::erase(found, nullptr);
    return found;
  }();
  return here;
}

std::vector<const StreamLoops*> stream_candidates(StreamKind kind, Stores stores, std::size_t vector_bytes) {
  std::vector<const StreamLoops*> candidates;
  for (const StreamLoops* const loops : stream_loops_here())
    if (loops->loop(kind, stores) != nullptr && (vector_bytes == 0 || loops->vector_bytes == vector_bytes))
      candidates.push_back(loops);
  return candidates;
}

StreamJob trial_of(const StreamJob& job, std::size_t trial) {
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

const StreamLoops& fastest_of(const std::vector<const StreamLoops*>& candidates, StreamKind kind, Stores stores,
                              const StreamJob& job) {
  std::vector<std::int64_t> best(candidates.size(), std::numeric_limits<std::int64_t>::max());
  for (std::size_t trial = 0; candidates.size() > 1 && trial < trials_of_each * candidates.size(); ++trial) {
    const std::size_t i = trial % candidates.size();
    best[i] = std::min(best[i], time_ns(candidates[i]->loop(kind, stores), trial_of(job, trial)));
  }
  return *candidates[static_cast<std::size_t>(std::ranges::min_element(best) - best.begin())];
}

}  // namespace ullage
