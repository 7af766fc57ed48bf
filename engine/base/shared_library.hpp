// SPDX-License-Identifier: Apache-2.0
// Shared libraries that are loaded at run time, for functions that an engine can do without.
#pragma once

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "base/result.hpp"
#include "base/std.hpp"

namespace ullage {

/// Success where so much address space can be had.
inline Status check_room(const std::string& kind, std::uint64_t bytes) {
  if (bytes == 0) return {};
  void* const room = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return fail(errno_error(errno, "load", kind));
  munmap(room, bytes);
  return {};
}

inline std::string linker_says() {
  const char* text = dlerror();
  return text == nullptr ? "the dynamic linker reports no reason" : text;
}

/// Loads the first of `names` that there is; `flags` are those of dlopen. Its address space is asked for before that:
/// a library that has too little of it while it is loaded may wait for ever, OpenBLAS does. Errors, with `kind` as
/// their place: ENOMEM where `room_bytes` of address space are not left; what the dynamic linker says of the first
/// library that is there and cannot be loaded; or that none was found.
[[nodiscard]] inline Result<void*> load_library(const std::string& kind, std::span<const std::string> names, int flags,
                                                std::uint64_t room_bytes) {
  if (const auto room = check_room(kind, room_bytes); !room) return fail(room.error());
  std::string tried;
  std::string reason;
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), flags)) return handle;
    const std::string said = linker_says();
    const bool is_missing = said.starts_with(name + ": cannot open shared object file");
    if (reason.empty() && (!is_missing || names.size() == 1)) reason = said;
    tried += (tried.empty() ? "" : ", ") + name;
  }
  if (!reason.empty()) return fail(environment_error(kind, reason));
  return fail(environment_error(kind, "none found (tried " + tried + "); install one, or name it with `library`"));
}

/// Is the base of a struct of a loaded library's functions and variables: each is initialised by its name there. They
/// are those of the library for as long as it is loaded.
class SymbolTable {
 public:
  explicit SymbolTable(void* library) : library_(library) {}
  /// The first name that must be there and is not; empty where all are.
  [[nodiscard]] const std::string& missing() const { return missing_; }

 protected:
  /// Becomes a pointer of the type that its member has.
  struct Symbol {
    void* address;
    template <class T>
    operator T*() const {
      return reinterpret_cast<T*>(address);
    }
  };
  /// Null where the library has none of that name.
  [[nodiscard]] Symbol find(const char* name) const { return {dlsym(library_, name)}; }
  [[nodiscard]] Symbol take(const char* name) {
    const Symbol found = find(name);
    if (found.address == nullptr && missing_.empty()) missing_ = name;
    return found;
  }

 private:
  void* library_;
  std::string missing_;
};

/// Address space that a linear algebra library takes while it is loaded: its code, its buffers and a stack for a thread
/// of each processor.
[[nodiscard]] inline std::uint64_t linear_library_room_bytes() {
  constexpr std::uint64_t code_and_buffers = std::uint64_t{256} << 20;
  constexpr std::uint64_t usual_stack = std::uint64_t{8} << 20;
  rlimit stack{};
  const bool is_known = getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
  const auto threads = static_cast<std::uint64_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  return code_and_buffers + threads * (is_known ? std::uint64_t{stack.rlim_cur} : usual_stack);
}

}  // namespace ullage
