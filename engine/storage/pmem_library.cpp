// SPDX-License-Identifier: Apache-2.0
#include "storage/pmem_library.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

#include "base/shared_library.hpp"

namespace ullage {
namespace {

constexpr const char* usual_name = "libpmem.so.1";
constexpr const char* force_variable = "PMEM_IS_PMEM_FORCE";

Error pmem_error(const std::string& text) { return environment_error("libpmem", text); }

template <class Function>
[[nodiscard]] bool take(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool is_forced() {
  const char* value = std::getenv(force_variable);
  return value != nullptr && std::strcmp(value, "1") == 0;
}

void unmap_by_pmem(std::byte* data, std::uint64_t size_bytes) { (void)pmem_library()->unmap(data, size_bytes); }

/// Returns whether the kernel itself takes the file for one on persistent memory.
bool grants_map_sync(int fd, const std::string& path) {
  MappingParameters needed;
  needed.map_sync = MapSync::needed;
  return FileMapping::map(fd, 1, false, needed, path).has_value();
}

/// libpmem opens files by name: this one is that of the descriptor, whatever became of its path.
Result<PmemMapping> map_for_writing(int fd, const MappingParameters& parameters, const std::string& path) {
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

}  // namespace

Result<PmemCalls> find_pmem(const std::string& name) {
  const auto loaded = load_library("libpmem", std::span(&name, 1), RTLD_NOW | RTLD_LOCAL, 0);
  if (!loaded) return fail(loaded.error());
  void* const library = *loaded;
  PmemCalls calls;
  const bool is_whole = take(library, "pmem_map_file", calls.map_file) && take(library, "pmem_unmap", calls.unmap) &&
                        take(library, "pmem_memcpy", calls.copy) && take(library, "pmem_drain", calls.drain) &&
                        take(library, "pmem_msync", calls.sync) &&
                        take(library, "pmem_has_auto_flush", calls.has_auto_flush) &&
                        take(library, "pmem_errormsg", calls.last_error);
  if (is_whole) return calls;
  return fail(pmem_error(name + " lacks a function that libpmem 1.5 has: install a later one"));
}

const Result<PmemCalls>& pmem_library() {
  static const Result<PmemCalls> found = find_pmem(usual_name);
  return found;
}

Result<PmemMapping> map_by_pmem(int fd, std::uint64_t bytes, bool writes, const MappingParameters& parameters,
                                const std::string& path) {
  if (writes) return map_for_writing(fd, parameters, path);
  auto mapping = FileMapping::map(fd, bytes, false, parameters, path);
  if (!mapping) return fail(mapping.error());
  const Persistence persistence = mapping->is_sync() ? Persistence::real
                                  : is_forced()      ? Persistence::forced
                                                     : Persistence::none;
  return PmemMapping{std::move(*mapping), persistence};
}

}  // namespace ullage
