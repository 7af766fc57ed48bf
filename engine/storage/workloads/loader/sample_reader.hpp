// SPDX-License-Identifier: Apache-2.0
// Reads the samples of one accelerator into its slots, by the backend's own calls for files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/helper_threads.hpp"
#include "storage/workloads/loader/loader_state.hpp"
#include "storage/workloads/loader/training_account.hpp"
#include "work/phase_work.hpp"

namespace ullage {

/// A slot holds one call's piece of its sample, in the end the last one. Threads read at the same time, each with what
/// it owns.
class SampleReader final {
 public:
  struct Own {
    HelperClock clock;
    OpenRequest request;
    std::vector<Extent> extents;
  };

  /// `memory`: of all slots, bytes_needed() of it.
  SampleReader(const LoaderState& state, const SampleOrder& order, std::span<std::byte> memory);

  [[nodiscard]] static std::size_t slot_bytes(const LoaderState& state);
  [[nodiscard]] static std::size_t bytes_needed(const LoaderState& state);

  void poison();
  /// Names and extents are made before the first of the times.
  [[nodiscard]] Result<SampleTimes> read(std::uint64_t index, Own& own);

  // After the timer, by one thread.
  /// What the slots hold after samples [0, read).
  void check_kept(std::uint64_t read, Verification& verification);
  /// Reads sample `index` again and looks at each piece.
  [[nodiscard]] Status check_again(std::uint64_t index, Meter& progress, Verification& verification);

 private:
  [[nodiscard]] std::span<std::byte> slot(std::uint64_t index);
  [[nodiscard]] OpenRequest request_of(const SamplePlace& place) const;
  void cut(const SamplePlace& place, std::span<std::byte> buffer, std::vector<Extent>& extents) const;
  void check_piece(const SamplePlace& place, const Extent& piece, Verification& verification) const;

  const LoaderState& state_;
  SampleOrder order_;
  PositionContents contents_;
  std::span<std::byte> memory_;
};

}  // namespace ullage
