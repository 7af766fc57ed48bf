// SPDX-License-Identifier: Apache-2.0
// Extents of one length at equal distances, in the file and in memory, as six numbers. A loop over short transfers that
// reads each extent from memory leaves less of the nearest cache to what it copies: some ns a transfer.
#pragma once

#include "base/std.hpp"
#include "storage/backend.hpp"

namespace ullage {

/// A batch, looked through once. `end_bytes`: of the extent that ends last.
struct ExtentRun {
  std::uint64_t end_bytes = 0;
  bool is_regular = false;  // then the rest counts
  Extent first;
  std::uint64_t offset_step = 0;  // modulo 2^64, so backwards as well
  std::ptrdiff_t data_step = 0;

  [[nodiscard]] Extent operator[](std::size_t i) const noexcept {
    return {first.offset_bytes + i * offset_step, first.length_bytes,
            first.data + static_cast<std::ptrdiff_t>(i) * data_step};
  }
};

[[nodiscard]] inline ExtentRun run_of(std::span<const Extent> extents) noexcept {
  ExtentRun run;
  if (extents.empty()) return run;
  run.first = extents.front();
  if (extents.size() > 1) {
    run.offset_step = extents[1].offset_bytes - run.first.offset_bytes;
    run.data_step = extents[1].data - run.first.data;
  }
  bool is_regular = true;
  std::uint64_t end_bytes = run.first.offset_bytes + run.first.length_bytes;
  for (std::size_t i = 1; i < extents.size(); ++i) {
    const Extent& before = extents[i - 1];
    const Extent& extent = extents[i];
    is_regular &= extent.offset_bytes - before.offset_bytes == run.offset_step;
    is_regular &= extent.data - before.data == run.data_step;
    is_regular &= extent.length_bytes == run.first.length_bytes;
    end_bytes = std::max(end_bytes, extent.offset_bytes + extent.length_bytes);
  }
  run.is_regular = is_regular;
  run.end_bytes = end_bytes;
  return run;
}

/// `move(extent_at)`, where `extent_at(i)` is extent i; `run` is that of `extents`.
template <class Move>
[[nodiscard]] auto with_extents(std::span<const Extent> extents, const ExtentRun& run, const Move& move) {
  if (run.is_regular) return move([run](std::size_t i) { return run[i]; });
  return move([data = extents.data()](std::size_t i) { return data[i]; });
}

}  // namespace ullage
