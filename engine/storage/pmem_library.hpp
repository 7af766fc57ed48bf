// SPDX-License-Identifier: Apache-2.0
// libpmem, found at run time: it knows what persistent memory is and how stores reach it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/parameters.hpp"
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

// How transfers are stored by libpmem: the parameters of the backends that do, and the call that each choice makes.

enum class Store { persist, nodrain, nontemporal, streaming };

struct StoreParameters {
  Store store = Store::persist;
  std::uint64_t streaming_bytes = 256;
};

/// The fields of a backend's parameters that begin with these.
template <class P>
[[nodiscard]] Table<P> store_table() {
  return {
      choice<P, Store>(
          "store", &P::store,
          {{Store::persist, "persist"},
           {Store::nodrain, "nodrain"},
           {Store::nontemporal, "nontemporal"},
           {Store::streaming, "streaming"}},
          "Choose how transfers are stored. persist makes each durable before the next. The others drain all stores at "
          "the sync: nodrain stores as libpmem chooses, nontemporal past the caches, streaming past the caches from "
          "streaming_bytes on."),
      bytes<P>("streaming_bytes", &P::streaming_bytes, {},
               "With store streaming, store transfers of this size or more past the caches. Smaller ones go through "
               "the caches and are flushed."),
  };
}

/// `move(store)`, where `store(to, from, bytes)` is what `parameters` ask for: one call of libpmem.
template <class Move>
[[nodiscard]] auto with_store(const StoreParameters& parameters, const PmemCalls& library, const Move& move) {
  const auto copy = library.copy;
  if (parameters.store == Store::streaming)
    return move([copy, least = parameters.streaming_bytes](std::byte* to, const std::byte* from, std::size_t bytes) {
      copy(to, from, bytes, (bytes >= least ? pmem_non_temporal : pmem_temporal) | pmem_no_drain);
    });
  unsigned flags = 0;
  if (parameters.store == Store::nodrain) flags = pmem_no_drain;
  if (parameters.store == Store::nontemporal) flags = pmem_non_temporal | pmem_no_drain;
  return move([copy, flags](std::byte* to, const std::byte* from, std::size_t bytes) { copy(to, from, bytes, flags); });
}

}  // namespace ullage
