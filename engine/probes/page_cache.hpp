// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <expected>

namespace ullage {

enum class PageSource { cachestat, mincore };

/// Pages of an open file in this kernel's page cache. Of dirty ones only cachestat(2) knows: 0 by mincore(2).
struct FilePages {
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  std::uint64_t dirty = 0;  // or being written back
};

/// Or the errno; ENOSYS, EPERM and EOPNOTSUPP of cachestat mean that mincore may still do.
[[nodiscard]] std::expected<FilePages, int> file_pages(int fd, PageSource source);

}  // namespace ullage
