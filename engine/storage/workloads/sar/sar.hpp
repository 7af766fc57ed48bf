// SPDX-License-Identifier: Apache-2.0
// The words of workload `sar`.
#pragma once

#include <cstdint>
#include <string>

#include "base/parameters.hpp"
#include "storage/backend.hpp"
#include "storage/image_grid.hpp"
#include "storage/workloads/sar/pattern.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "work/phase_work.hpp"
#include "work/workload.hpp"

namespace ullage {

enum class SarRaw { shared, own };
enum class SarSync { none, close, fsync };
enum class SarCache { none, drop };
enum class SarVerify { none, full };

struct SarParameters {
  std::uint64_t grid = 4;
  std::uint64_t depth = 2;
  std::uint64_t rows = 1144;
  std::uint64_t columns = 756;
  std::uint64_t raw_columns = 1072;
  SarRaw raw = SarRaw::shared;
  std::uint64_t raw_files = 1;
  std::uint64_t templates = 40;
  std::uint64_t template_bytes = 4096;
  std::uint64_t subimages = 8;
  std::uint64_t subimage_side = 64;
  ImageLayout layout = ImageLayout::files;
  std::uint64_t seed = 1;
  ReadBack read_back = ReadBack::other_node;
  SarSync sync = SarSync::close;
  SarCache cache = SarCache::none;
  SarVerify verify = SarVerify::full;

  [[nodiscard]] static const Table<SarParameters>& table();

  [[nodiscard]] SarShape shape(std::uint64_t ranks) const;
  [[nodiscard]] ImageGrid files(std::uint64_t ranks) const;
};

/// Rules that span parameters and the backend; the pointer is that of the parameters object.
[[nodiscard]] Status check_sar(const SarParameters& parameters, const Capabilities& capabilities,
                               const PlannedLayout& layout, const std::string& pointer);
[[nodiscard]] Needs needs_of_sar(const SarParameters& parameters, const PlannedLayout& layout);

[[nodiscard]] std::string word_of(SarRaw raw);
[[nodiscard]] std::string word_of(SarSync sync);

}  // namespace ullage
