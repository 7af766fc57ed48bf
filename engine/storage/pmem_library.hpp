// SPDX-License-Identifier: Apache-2.0
// libpmem, found at run time: it knows what persistent memory is and how stores reach it.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.hpp"
#include "storage/file_mapping.hpp"

namespace ullage {

/// The functions of libpmem that are used here, as <libpmem.h> declares them.
struct PmemCalls {
  void* (*map_file)(const char* path, std::size_t length, int flags, unsigned mode, std::size_t* mapped,
                    int* is_pmem) = nullptr;
  int (*unmap)(void* data, std::size_t length) = nullptr;
  void* (*copy)(void* to, const void* from, std::size_t length, unsigned flags) = nullptr;
  void (*drain)() = nullptr;
  int (*sync)(const void* data, std::size_t length) = nullptr;
  int (*has_auto_flush)() = nullptr;
  const char* (*last_error)() = nullptr;
};

/// Flags of PmemCalls::copy.
inline constexpr unsigned pmem_no_drain = 1U << 0U;
inline constexpr unsigned pmem_non_temporal = 1U << 1U;
inline constexpr unsigned pmem_temporal = 1U << 2U;

/// The library of that name; an error where it is not there, or is another one.
[[nodiscard]] Result<PmemCalls> find_pmem(const std::string& name);

/// libpmem as this process finds it when it first asks.
[[nodiscard]] const Result<PmemCalls>& pmem_library();

/// Says what stores to a mapping need to be durable. forced: PMEM_IS_PMEM_FORCE=1 says so of memory that is not
/// persistent.
enum class Persistence { none, forced, real };

struct PmemMapping {
  FileMapping mapping;
  Persistence persistence = Persistence::none;
};

/// Maps the whole of a file that is open for reading, or for writing as well. `parameters`: map_sync counts for reading
/// alone, since libpmem asks for it by itself. Needs pmem_library().
[[nodiscard]] Result<PmemMapping> map_by_pmem(int fd, std::uint64_t bytes, bool writes,
                                              const MappingParameters& parameters, const std::string& path);

}  // namespace ullage
