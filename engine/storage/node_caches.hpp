// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"

namespace ullage {

enum class CachesToDrop { pages, pages_and_names };

/// Drops this node's clean page cache, and its dentries and inodes, through /proc/sys/vm/drop_caches. Root only.
[[nodiscard]] Status drop_node_caches(CachesToDrop what);

}  // namespace ullage
