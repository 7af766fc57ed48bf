// SPDX-License-Identifier: Apache-2.0
// What run folders are called: ullage-RUN.
#pragma once

#include <string>

#include "base/result.hpp"
#include "storage/descriptor.hpp"

namespace ullage {

[[nodiscard]] std::string folder_name(const std::string& run_id);

/// The target of a run folder and the folder's name in it; environment error for a path of any other form.
[[nodiscard]] Result<SplitName> split_folder(const std::string& folder_path);

/// Returns whether a folder is called as those of the front's runs are: ullage-20261122T232612Z-d2e508, perhaps with
/// more behind. Where no marker is left, an empty folder of any other name may be somebody's own.
[[nodiscard]] bool is_named_by_front(const std::string& name);

}  // namespace ullage
