// SPDX-License-Identifier: Apache-2.0
// The calls of one operation of workload `sar`, timed apart.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/meter.hpp"
#include "storage/backend.hpp"

namespace ullage {

enum class SarPart { open, transfer, subimages, write, sync, close };
inline constexpr std::size_t sar_part_count = 6;

[[nodiscard]] std::string word(SarPart part);

/// One reading of the clock ends each call. begin(), calls, done(); an operation with an error has no done().
class SarCalls final {
 public:
  /// `parts`: those that operations have, as the meter numbers them.
  SarCalls(Backend& backend, std::vector<SarPart> parts);

  [[nodiscard]] std::vector<std::string> part_names() const;

  void begin(Meter& meter) noexcept;
  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request);
  [[nodiscard]] Status move(File& file, Direction direction, std::span<const Extent> extents, SarPart part);
  [[nodiscard]] Status sync(File& file);
  [[nodiscard]] Status close(File& file);
  /// Adds what each part took to the meter.
  void done() noexcept;

  /// Is for transfers besides those of operations.
  [[nodiscard]] Meter& ticked() noexcept { return *ticked_; }

  /// Files that were opened or made.
  [[nodiscard]] std::uint64_t files() const noexcept { return files_; }

 private:
  void took(SarPart part) noexcept;

  Backend& backend_;
  std::vector<SarPart> parts_;
  std::array<std::int64_t, sar_part_count> took_ns_{};
  std::unique_ptr<Meter> ticked_;  // by transfers, whose extents are no operations of the phase
  Meter* meter_ = nullptr;
  std::int64_t last_ns_ = 0;
  std::uint64_t files_ = 0;
};

}  // namespace ullage
