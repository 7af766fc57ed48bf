// SPDX-License-Identifier: Apache-2.0
// Arrays one after the other in a plain file, behind a header of ours: what any backend's file can hold.
#pragma once

#include <memory>
#include <span>

#include "storage/array_file.hpp"
#include "storage/backend.hpp"

namespace ullage {

struct RawArraysRequest {
  OpenRequest file;
  std::span<const ArraySpec> arrays;
  bool collective = false;    // operations of the file are
  bool holds_data = true;     // what is read can be what was written
  bool writes_header = true;  // this rank does so
};

/// Opens a file through the backend, and writes its header or reads it and compares it.
[[nodiscard]] Result<std::unique_ptr<ArrayFile>> open_raw_arrays(Backend& backend, const RawArraysRequest& request);

}  // namespace ullage
