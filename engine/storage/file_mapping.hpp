// SPDX-License-Identifier: Apache-2.0
// Pages of a file in memory.
#pragma once

#include <csetjmp>

#include "base/parameters.hpp"
#include "base/pinned.hpp"
#include "base/result.hpp"
#include "base/std.hpp"

namespace ullage {

// SIGBUS at a page of a mapped file, because the file was truncated, its file system is full or its device failed: an
// error of whoever touched the page, instead of the end of the process.

/// While there is one, SIGBUS in a thread inside survives_bus_error() ends what that does, and everywhere else the
/// process, as before. Process-wide because signal handlers are.
class BusErrorHandler final : Pinned {
 public:
  BusErrorHandler();
  ~BusErrorHandler();
};

namespace detail {
/// Says where this thread goes on after SIGBUS; null: nowhere.
extern thread_local constinit sigjmp_buf* after_bus_error;
}  // namespace detail

/// False when SIGBUS ended `touch`. Where it may come, `touch` has no object with a destructor: none is run. Needs a
/// BusErrorHandler.
template <class Touch>
[[nodiscard]] bool survives_bus_error(const Touch& touch) {
  sigjmp_buf mark;
  // The signal mask is not saved, which would be a system call: the handler leaves it as it is.
  if (sigsetjmp(mark, 0) != 0) {
    detail::after_bus_error = nullptr;
    return false;
  }
  detail::after_bus_error = &mark;
  touch();
  detail::after_bus_error = nullptr;
  return true;
}

enum class MapSync { off, wanted, needed };
enum class MapAdvice { none, sequential, random, hugepage };

struct MappingParameters {
  MapSync map_sync = MapSync::wanted;
  MapAdvice advice = MapAdvice::none;
  bool populate = false;
};

/// The fields of a backend's parameters that begin with these.
template <class P>
[[nodiscard]] Table<P> mapping_table() {
  return {
      choice<P, MapSync>("map_sync", &P::map_sync,
                         {{MapSync::off, "off"}, {MapSync::wanted, "wanted"}, {MapSync::needed, "needed"}},
                         "Ask for MAP_SYNC, which files on persistent memory have (DAX). If wanted, map without it "
                         "where the file system refuses it; if needed, fail there."),
      choice<P, MapAdvice>("advice", &P::advice,
                           {{MapAdvice::none, "none"},
                            {MapAdvice::sequential, "sequential"},
                            {MapAdvice::random, "random"},
                            {MapAdvice::hugepage, "hugepage"}},
                           "Tell the kernel this access pattern for each mapping (madvise)."),
      flag<P>("populate", &P::populate,
              "Have all pages of a file mapped when it is opened (MADV_POPULATE_READ, MADV_POPULATE_WRITE), not one by "
              "one at the first access."),
  };
}

/// A shared mapping of the beginning of a file. Unmaps itself.
class FileMapping final {
 public:
  FileMapping() = default;
  FileMapping(FileMapping&& other) noexcept;
  FileMapping& operator=(FileMapping&& other) noexcept;
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;
  ~FileMapping();

  /// `bytes`: at least 1. Beyond the end of the file access is SIGBUS.
  [[nodiscard]] static Result<FileMapping> map(int fd, std::uint64_t bytes, bool writes,
                                               const MappingParameters& parameters, const std::string& path);

  /// A mapping that a library has made, and `unmap` ends.
  using Unmap = void (*)(std::byte* data, std::uint64_t size_bytes);
  [[nodiscard]] static FileMapping of_library(std::byte* data, std::uint64_t size_bytes, bool is_sync, Unmap unmap) {
    return {data, size_bytes, is_sync, unmap};
  }

  /// Advises what `parameters` want of the pages of a mapping that is there.
  [[nodiscard]] Status advise(bool writes, const MappingParameters& parameters, const std::string& path) const;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  /// Returns whether stores reach persistent memory without msync once they have left the caches.
  [[nodiscard]] bool is_sync() const noexcept { return is_sync_; }

 private:
  FileMapping(std::byte* data, std::uint64_t size_bytes, bool is_sync, Unmap unmap)
      : data_(data), size_bytes_(size_bytes), is_sync_(is_sync), unmap_(unmap) {}

  std::byte* data_ = nullptr;
  std::uint64_t size_bytes_ = 0;
  bool is_sync_ = false;
  Unmap unmap_ = nullptr;
};

}  // namespace ullage
