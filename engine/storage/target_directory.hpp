// SPDX-License-Identifier: Apache-2.0
// The directory that a target names, in which run folders are made, and what these are called.
#pragma once

#include <string>

#include "base/descriptor.hpp"
#include "base/result.hpp"

namespace ullage {

struct TargetDirectory {
  Descriptor descriptor;
  std::string path;  // absolute, without symbolic links
};

/// Symbolic links on the way to the target are the user's own and are followed, once.
[[nodiscard]] Result<TargetDirectory> open_target(const std::string& path);

/// Returns where a directory really is: asked of the kernel, so that nothing can change between looking and opening.
[[nodiscard]] std::string path_of(const Descriptor& directory, const std::string& fallback);

/// Returns what an errno says of a directory or a file, to stand behind its name.
[[nodiscard]] std::string reason_of(int errno_value);

/// The path of `name` in `directory`.
[[nodiscard]] std::string joined(const std::string& directory, const std::string& name);

/// Success where nobody else owns `folder` or may write to it: it could be changed under our feet.
[[nodiscard]] Status check_private(const Descriptor& folder, const std::string& path);

// What run folders are called: ullage-RUN.

[[nodiscard]] std::string folder_name(const std::string& run_id);

/// The target of a run folder and the folder's name in it; environment error for a path of any other form.
[[nodiscard]] Result<SplitName> split_folder(const std::string& folder_path);

/// Returns whether a folder is called as those of the front's runs are: ullage-20261122T232612Z-d2e508, perhaps with
/// more behind. Where no marker is left, an empty folder of any other name may be somebody's own.
[[nodiscard]] bool is_named_by_front(const std::string& name);

}  // namespace ullage
