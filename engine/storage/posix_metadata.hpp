// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "storage/metadata.hpp"
#include "storage/run_folder.hpp"

namespace ullage {

/// Names through the system calls that take a directory's descriptor. `folder` outlives it.
[[nodiscard]] std::unique_ptr<MetadataApi> make_posix_metadata(const RunFolder& folder);

}  // namespace ullage
