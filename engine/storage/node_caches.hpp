// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/descriptor.hpp"
#include "base/result.hpp"

namespace ullage {

enum class CachesToDrop { pages, pages_and_names };

/// Drops this node's clean page cache, and its dentries and inodes, through /proc/sys/vm/drop_caches. Root only.
[[nodiscard]] inline Status drop_node_caches(CachesToDrop what) {
  constexpr const char* path = "/proc/sys/vm/drop_caches";
  const Descriptor file(::open(path, O_WRONLY | O_CLOEXEC));
  const char* word = what == CachesToDrop::pages ? "1" : "3";
  if (!file || ::write(file.get(), word, 1) != 1) return fail(errno_error(errno, "drop caches", path));
  return {};
}

}  // namespace ullage
