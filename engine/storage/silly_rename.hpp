// SPDX-License-Identifier: Apache-2.0
// Files beside ours that we have not made: what NFS and FUSE keep of a file that is removed while somebody has it open,
// under another name in the same directory, which cannot be removed before its last descriptor is closed; and what MPI
// libraries make for a file they have open.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace ullage {

/// A name that such a client gives: .nfs and 24 hexadecimal digits, or .fuse_hidden and 16.
[[nodiscard]] bool is_silly_name(std::string_view name) noexcept;

/// Returns whether a directory holds nothing but such names, if anything; no when it cannot be read.
[[nodiscard]] bool holds_silly_names_only(int directory);

/// unlinkat(2) of the empty directory `base` in `parent`. Clients remove such files some time after the close: while
/// nothing else is in the way this waits for them, at most five seconds.
[[nodiscard]] OrErrno<void> remove_empty_directory(int parent, const std::string& base);

// Files that an MPI library makes beside a file it has open, for its shared pointer, and leaves there when its ranks
// are ended.

/// The file in the same directory beside which `name` is such a file, by the naming of ROMIO (.FILE.shfp.N.N) or of
/// OMPIO's components `lockedfile` (FILE-N-N.lock; made for every file once it is chosen, as it is where ranks of
/// several nodes share one) and `individual` (FILE.data.N, FILE.metadata.N). Nothing for any other name. OMPIO's `sm`
/// keeps its own in the launcher's session directory.
[[nodiscard]] std::optional<std::string_view> file_beside(std::string_view name);

}  // namespace ullage
