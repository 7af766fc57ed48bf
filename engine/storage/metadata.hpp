// SPDX-License-Identifier: Apache-2.0
// The contract of work on names: small files and directories, made, looked at and removed.
#pragma once

#include "base/meter.hpp"
#include "base/pinned.hpp"
#include "base/result.hpp"
#include "base/std.hpp"

namespace ullage {

enum class MetadataOperation {
  mkdir,
  create,  // a new file: open, write when there is data, sync when asked, close
  stat,
  read,  // open, read the data's length, close; a shorter file is an error
  rename,
  readdir,  // every name of a directory
  chmod,
  truncate,  // open, cut to nothing, close
  open,      // for reading, and close
  unlink,
  rmdir,
};

/// The operation's own word, as in error lines.
[[nodiscard]] inline std::string word(MetadataOperation operation) {
  static constexpr std::array<const char*, 11> words{"mkdir", "create",   "stat", "read",   "rename", "readdir",
                                                     "chmod", "truncate", "open", "unlink", "rmdir"};
  return words.at(static_cast<std::size_t>(operation));
}

/// Returns what an operation is made of when that is more than one call, as the meter numbers it.
[[nodiscard]] inline std::vector<std::string> parts_of(MetadataOperation operation) {
  switch (operation) {
    case MetadataOperation::create:
      return {"open", "write", "close"};
    case MetadataOperation::read:
      return {"open", "read", "close"};
    case MetadataOperation::truncate:
      return {"open", "truncate", "close"};
    case MetadataOperation::open:
      return {"open", "close"};
    default:
      return {};
  }
}

/// One name to work on, in a directory that was entered. The caller keeps what is pointed to.
struct MetadataItem {
  int directory = -1;
  const char* name = nullptr;
  const char* new_name = nullptr;  // of rename
  std::byte* data = nullptr;       // of create and read
  std::size_t bytes = 0;
};

/// Works on names below the run folder; no symbolic link is followed. One per rank, used by one thread.
class MetadataApi : public Interface {
 public:
  /// A handle for items, good until left or this object ends. `directory` is relative to the run folder.
  [[nodiscard]] virtual Result<int> enter(const std::string& directory) = 0;
  virtual void leave(int directory) = 0;
  /// Does `operation` to the items in order, ticks the meter after each, and begins none after it said false. The first
  /// error ends the call; what failed is not counted. With `sync`, a file is synced before it is closed.
  [[nodiscard]] virtual Status perform(MetadataOperation operation, std::span<const MetadataItem> items, bool sync,
                                       Meter& meter) = 0;
  [[nodiscard]] virtual Status sync_directory(int directory) = 0;
  /// Everything of the file system the directory lies in; once a node is enough.
  [[nodiscard]] virtual Status sync_file_system(int directory) = 0;
};

}  // namespace ullage
