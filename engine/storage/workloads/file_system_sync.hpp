// SPDX-License-Identifier: Apache-2.0
// Durability of many files at once.
#pragma once

#include <string>

#include "base/result.hpp"
#include "storage/backend.hpp"

namespace ullage {

/// Makes everything durable that this node has written to the file system of `directory`, a name in the run folder. The
/// backend works on names.
[[nodiscard]] inline Status sync_file_system_of(Backend& backend, const std::string& directory) {
  const auto api = backend.make_metadata();
  if (!api) return fail(api.error());
  const auto entered = (*api)->enter(directory);
  return entered ? (*api)->sync_file_system(*entered) : fail(entered.error());
}

}  // namespace ullage
