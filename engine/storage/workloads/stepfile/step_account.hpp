// SPDX-License-Identifier: Apache-2.0
// What one rank's steps took, apart: the application's computation, the calls for states, and what of these the
// application had to wait for.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/meter.hpp"
#include "mpi/comm.hpp"
#include "storage/workloads/stepfile/step_files.hpp"
#include "work/phase_work.hpp"

namespace ullage {

enum class StepPart { compute, recompute, open, transfer, sync, close, remove, wait, exposed };
inline constexpr std::size_t step_part_count = 9;

class StepAccount final {
 public:
  /// `parts`: those that this phase has; in the order of the enumeration.
  StepAccount(std::vector<StepPart> parts, std::uint64_t steps);

  [[nodiscard]] std::vector<std::string> part_names() const;
  void add(Meter& meter, StepPart part, std::int64_t took_ns);
  /// Adds one state: every part that the phase has.
  void add(Meter& meter, const StepTimes& times);
  /// Operation `step` has ended: what of it was no computation is exposed.
  void step_done(Meter& meter, std::uint64_t step, std::int64_t took_ns, std::int64_t computed_ns);

  /// This rank's.
  [[nodiscard]] double compute_s() const { return static_cast<double>(computed_ns_) * 1e-9; }
  [[nodiscard]] double exposed_s() const { return static_cast<double>(exposed_ns_) * 1e-9; }

  /// Collective: the timeline becomes that of all ranks.
  void share(const mpi::Comm& all);
  /// Steps in intervals, with the sums over all ranks.
  [[nodiscard]] nlohmann::json timeline() const;

 private:
  static constexpr std::uint64_t most_intervals = 128;
  std::vector<StepPart> parts_;
  std::array<int, step_part_count> number_of_{};  // as the meter numbers them; -1: the phase has no such part
  std::uint64_t steps_;
  std::uint64_t steps_an_interval_;
  std::vector<std::uint64_t> interval_compute_ns_;
  std::vector<std::uint64_t> interval_exposed_ns_;
  std::int64_t computed_ns_ = 0;
  std::int64_t exposed_ns_ = 0;
};

[[nodiscard]] std::string word(StepPart part);

}  // namespace ullage
