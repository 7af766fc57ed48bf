// SPDX-License-Identifier: Apache-2.0
// Writing a FLASH file, and reading it again, on one rank.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/array_contents.hpp"
#include "storage/array_file.hpp"
#include "storage/backend.hpp"
#include "storage/manifest.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/flash/flash.hpp"
#include "work/phase_work.hpp"

namespace ullage {

// Arrays one after the other in a plain file, behind a header of ours: what any backend's file can hold.

struct RawArraysRequest {
  OpenRequest file;
  std::span<const ArraySpec> arrays;
  bool collective = false;    // operations of the file are
  bool holds_data = true;     // what is read can be what was written
  bool writes_header = true;  // this rank does so
};

/// Opens a file through the backend, and writes its header or reads it and compares it.
[[nodiscard]] Result<std::unique_ptr<ArrayFile>> open_raw_arrays(Backend& backend, const RawArraysRequest& request);

/// Holds what both phases of a repetition share on this rank.
struct FlashState {
  const FlashParameters* parameters = nullptr;
  const StorageContext* context = nullptr;
  Capabilities capabilities;
  DatasetEntry dataset;
  FlashLayout layout;
  std::vector<ArraySpec> arrays;
  std::uint64_t first_block = 0;
  std::uint64_t blocks = 0;  // of this rank

  [[nodiscard]] std::uint64_t rank_bytes() const { return blocks * layout.block_bytes(); }
};

[[nodiscard]] std::unique_ptr<PhaseWork> make_flash_phase(const FlashState& state, Direction direction);

}  // namespace ullage
