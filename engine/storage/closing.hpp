// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/parameters.hpp"
#include "base/result.hpp"

namespace ullage {

/// Closes a file and keeps what it says of its hints. Some files know that only while they are open. HDF5 has to be
/// asked by all ranks together, which they do when they close.
template <class FileT>
[[nodiscard]] Status close_and_keep_hints(FileT& file, Map& hints) {
  hints = file.hints_granted();
  Status status = file.close();
  if (hints.empty()) hints = file.hints_granted();
  return status;
}

}  // namespace ullage
