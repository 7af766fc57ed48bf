// SPDX-License-Identifier: Apache-2.0
// How long a pattern goes on. Pure: told the time.
#pragma once

#include <cstdint>

#include "base/count.hpp"
#include "storage/workloads/b_eff_io/patterns.hpp"

namespace ullage {

/// `predicted`: the next repetition is expected to end in time, as release 2.1 has it; `elapsed`: this one ended before
/// it was over, as release 1.0 has it.
enum class BEffIoRule { predicted, elapsed };

/// After `repetitions`, of at least one, have taken `elapsed_s`: whether another one begins.
[[nodiscard]] bool b_eff_io_goes_on(BEffIoRule rule, double elapsed_s, std::uint64_t repetitions, double scheduled_s);

/// Calls of each rank that fit into the pattern's part of `most_bytes`, which goes by units; one at least.
[[nodiscard]] std::uint64_t b_eff_io_most_calls(const BEffIoPattern& pattern, std::uint64_t lmax_bytes,
                                                std::uint64_t ranks, std::uint64_t most_bytes);
/// Returns what a case of that type writes at most, rounded up to segments where it has them.
[[nodiscard]] Count b_eff_io_needed_bytes(BEffIoType type, std::uint64_t lmax_bytes, std::uint64_t ranks,
                                          std::uint64_t most_bytes);

/// When ranks whose calls are collective look together whether they go on: often enough to end soon after they should,
/// seldom enough to cost nothing.
class BEffIoCheckTimes final {
 public:
  /// `allowance_s`: what the pattern may take; infinite: as long as it needs.
  explicit BEffIoCheckTimes(double allowance_s);

  /// The repetition after which the first look is.
  [[nodiscard]] static constexpr std::uint64_t first() { return 1; }
  /// At a look: whether time is over.
  [[nodiscard]] bool is_over(double elapsed_s) const { return elapsed_s >= allowance_s_; }
  /// The repetition after which the next look is.
  [[nodiscard]] std::uint64_t next(std::uint64_t done, double elapsed_s) const;

 private:
  double allowance_s_;
  double spacing_s_;
};

}  // namespace ullage
