// SPDX-License-Identifier: Apache-2.0
// The words of workload `flash`.
#pragma once

#include <cstdint>
#include <string>

#include "base/parameters.hpp"
#include "storage/backend.hpp"
#include "storage/workloads/flash/layout.hpp"
#include "work/phase_work.hpp"
#include "work/workload.hpp"

namespace ullage {

enum class FlashFormat { raw, arrays };
enum class FlashCache { none, drop };
enum class FlashVerify { none, full };

struct FlashParameters {
  FlashFile file = FlashFile::checkpoint;
  std::uint64_t cells = 8;
  std::uint64_t blocks = 0;
  std::uint64_t plot_real_bytes = 4;
  FlashFormat format = FlashFormat::raw;
  bool sync = true;
  bool restart = true;
  FlashCache cache = FlashCache::none;
  FlashVerify verify = FlashVerify::full;

  [[nodiscard]] static const Table<FlashParameters>& table();
  [[nodiscard]] FlashLayout layout(std::uint64_t ranks) const {
    return {file, cells, plot_real_bytes, flash_blocks_before(blocks, ranks)};
  }
};

[[nodiscard]] Status check_flash_parameters(const FlashParameters& parameters, const Capabilities& capabilities,
                                            const PlannedLayout& layout, const std::string& pointer);
[[nodiscard]] Needs needs_of_flash(const FlashParameters& parameters, const PlannedLayout& layout);

}  // namespace ullage
