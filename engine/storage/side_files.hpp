// SPDX-License-Identifier: Apache-2.0
// Files that an MPI library makes beside a file it has open, for its shared pointer, and leaves there when its ranks
// are ended.
#pragma once

#include <optional>
#include <string_view>

namespace ullage {

/// The file in the same directory beside which `name` is such a file, by the naming of ROMIO (.FILE.shfp.N.N) or of
/// OMPIO's components `lockedfile` (FILE-N-N.lock; made for every file once it is chosen, as it is where ranks of
/// several nodes share one) and `individual` (FILE.data.N, FILE.metadata.N). Nothing for any other name. OMPIO's `sm`
/// keeps its own in the launcher's session directory.
[[nodiscard]] std::optional<std::string_view> file_beside(std::string_view name);

}  // namespace ullage
