// SPDX-License-Identifier: Apache-2.0
// NFS and FUSE keep a file that is removed while somebody has it open under another name in the same directory, until
// its last descriptor is closed. The directory cannot be removed before.
#pragma once

#include <string>
#include <string_view>

#include "storage/descriptor.hpp"

namespace ullage {

/// A name that such a client gives: .nfs and 24 hexadecimal digits, or .fuse_hidden and 16.
[[nodiscard]] bool is_silly_name(std::string_view name) noexcept;

/// Returns whether a directory holds nothing but such names, if anything; no when it cannot be read.
[[nodiscard]] bool holds_silly_names_only(int directory);

/// unlinkat(2) of the empty directory `base` in `parent`. Clients remove such files some time after the close: while
/// nothing else is in the way this waits for them, at most five seconds.
[[nodiscard]] OrErrno<void> remove_empty_directory(int parent, const std::string& base);

}  // namespace ullage
