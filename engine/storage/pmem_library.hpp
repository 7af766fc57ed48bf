// SPDX-License-Identifier: Apache-2.0
// libpmem, found at run time: it knows what persistent memory is and how stores reach it.
#pragma once

#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/parameters.hpp"
#include "base/result.hpp"
#include "base/shared_library.hpp"
#include "base/std.hpp"
#include "storage/file_mapping.hpp"

namespace ullage {

/// The functions of libpmem that are used here, as <libpmem.h> declares them.
struct PmemCalls : SymbolTable {
  using SymbolTable::SymbolTable;

  void* (*map_file)(const char* path, std::size_t length, int flags, unsigned mode, std::size_t* mapped,
                    int* is_pmem) = take("pmem_map_file");
  int (*unmap)(void* data, std::size_t length) = take("pmem_unmap");
  void* (*copy)(void* to, const void* from, std::size_t length, unsigned flags) = take("pmem_memcpy");
  void (*drain)() = take("pmem_drain");
  int (*sync)(const void* data, std::size_t length) = take("pmem_msync");
  int (*has_auto_flush)() = take("pmem_has_auto_flush");
};

/// Flags of PmemCalls::copy.
inline constexpr unsigned pmem_no_drain = 1U << 0U;
inline constexpr unsigned pmem_non_temporal = 1U << 1U;
inline constexpr unsigned pmem_temporal = 1U << 2U;

inline Error pmem_error(const std::string& text) { return environment_error("libpmem", text); }

/// The library of that name; an error where it is not there, or is another one.
[[nodiscard]] inline Result<PmemCalls> find_pmem(const std::string& name) {
  const auto loaded = load_library("libpmem", std::span(&name, 1), RTLD_NOW | RTLD_LOCAL, 0);
  if (!loaded) return fail(loaded.error());
  PmemCalls calls(*loaded);
  if (calls.missing().empty()) return calls;
  return fail(pmem_error(name + " lacks a function that libpmem 1.5 has: install a later one"));
}

inline constexpr const char* usual_name = "libpmem.so.1";

/// libpmem as this process finds it when it first asks.
[[nodiscard]] inline const Result<PmemCalls>& pmem_library() {
  static const Result<PmemCalls> found = find_pmem(usual_name);
  return found;
}

/// Why there is none; nothing where there is.
[[nodiscard]] inline std::optional<std::string> missing_pmem() {
  if (pmem_library()) return std::nullopt;
  return pmem_library().error().text + "; install libpmem1";
}

/// Says what stores to a mapping need to be durable. forced: PMEM_IS_PMEM_FORCE=1 says so of memory that is not
/// persistent.
enum class Persistence { none, forced, real };

struct PmemMapping {
  FileMapping mapping;
  Persistence persistence = Persistence::none;
};

inline constexpr const char* force_variable = "PMEM_IS_PMEM_FORCE";

inline bool is_forced() {
  const char* value = std::getenv(force_variable);
  return value != nullptr && std::strcmp(value, "1") == 0;
}

inline void unmap_by_pmem(std::byte* data, std::uint64_t size_bytes) { (void)pmem_library()->unmap(data, size_bytes); }

/// Returns whether the kernel itself takes the file for one on persistent memory.
inline bool grants_map_sync(int fd, const std::string& path) {
  MappingParameters needed;
  needed.map_sync = MapSync::needed;
  return FileMapping::map(fd, 1, false, needed, path).has_value();
}

/// libpmem opens files by name: this one is that of the descriptor, whatever became of its path.
inline Result<PmemMapping> map_for_writing(int fd, const MappingParameters& parameters, const std::string& path) {
  const std::string name = "/proc/self/fd/" + std::to_string(fd);
  std::size_t mapped = 0;
  int is_pmem = 0;
  errno = 0;
  void* const data = pmem_library()->map_file(name.c_str(), 0, 0, 0, &mapped, &is_pmem);
  if (data == nullptr) return fail(errno_error(errno != 0 ? errno : EIO, "map by libpmem", path));
  PmemMapping result;
  if (is_pmem != 0) result.persistence = Persistence::real;
  if (is_pmem != 0 && is_forced() && !grants_map_sync(fd, path)) result.persistence = Persistence::forced;
  result.mapping = FileMapping::of_library(static_cast<std::byte*>(data), mapped,
                                           result.persistence == Persistence::real, unmap_by_pmem);
  if (auto status = result.mapping.advise(true, parameters, path); !status) return fail(status.error());
  return result;
}

/// Maps the whole of a file that is open for reading, or for writing as well. `parameters`: map_sync counts for reading
/// alone, since libpmem asks for it by itself. Needs pmem_library().
[[nodiscard]] inline Result<PmemMapping> map_by_pmem(int fd, std::uint64_t bytes, bool writes,
                                                     const MappingParameters& parameters, const std::string& path) {
  if (writes) return map_for_writing(fd, parameters, path);
  auto mapping = FileMapping::map(fd, bytes, false, parameters, path);
  if (!mapping) return fail(mapping.error());
  const Persistence persistence = mapping->is_sync() ? Persistence::real
                                  : is_forced()      ? Persistence::forced
                                                     : Persistence::none;
  return PmemMapping{std::move(*mapping), persistence};
}

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
