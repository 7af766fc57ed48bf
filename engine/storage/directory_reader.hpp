// SPDX-License-Identifier: Apache-2.0
// What is in a directory, many names a system call, however deep it lies.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <functional>

#include "base/descriptor.hpp"
#include "base/std.hpp"

namespace ullage {

// A name as the system takes and gives it: characters with a NUL behind them, whose number is known.

/// Does not own its characters. Made from text that has its NUL, implicitly: it says no more than the text did.
class TerminatedName final {
 public:
  TerminatedName(const char* text) : text_(text), length_(std::strlen(text)) {}
  TerminatedName(const std::string& text) : text_(text.c_str()), length_(text.size()) {}
  [[nodiscard]] const char* c_str() const noexcept { return text_; }
  [[nodiscard]] std::size_t size() const noexcept { return length_; }
  [[nodiscard]] std::string_view view() const noexcept { return {text_, length_}; }

 private:
  const char* text_;
  std::size_t length_;
};

enum class EntryKind { directory, other, unknown };  // unknown: the file system does not say

struct NamedEntry {
  TerminatedName name;
  EntryKind kind = EntryKind::unknown;
  ino_t inode = 0;
};

inline EntryKind kind_of(unsigned char type) {
  if (type == DT_DIR) return EntryKind::directory;
  return type == DT_UNKNOWN ? EntryKind::unknown : EntryKind::other;
}

inline bool is_dots(std::string_view name) { return name == "." || name == ".."; }

/// Reads one directory after the other into the same room.
class DirectoryReader final {
 public:
  /// Room for one read: no less than the longest name and what stands around it.
  explicit DirectoryReader(std::size_t room_bytes) : room_(room_bytes) {}

  /// Reads the next entries of an open directory, without "." and "..". False: there are no more.
  [[nodiscard]] OrErrno<bool> read(int directory) {
    entries_.clear();
    while (entries_.empty()) {  // a read may bring nothing but dots
      // The C library has a function for it since 2.30 only.
      const long got = syscall(SYS_getdents64, directory, room_.data(), room_.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return std::unexpected(errno);
      if (got == 0) return false;
      for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
        const auto* entry = reinterpret_cast<const dirent64*>(room_.data() + at);
        at += entry->d_reclen;
        const TerminatedName name(static_cast<const char*>(entry->d_name));
        if (!is_dots(name.view())) entries_.push_back({name, kind_of(entry->d_type), entry->d_ino});
      }
    }
    return true;
  }

  /// Returns what the last read gave; the names live until the next one.
  [[nodiscard]] const std::vector<NamedEntry>& entries() const noexcept { return entries_; }

 private:
  std::vector<std::byte> room_;
  std::vector<NamedEntry> entries_;
};

/// open_beneath(directory, path, flags | O_DIRECTORY), also where the path is longer than the system takes in one go.
[[nodiscard]] inline OrErrno<Descriptor> open_directory(int directory, std::string path, int flags) {
  Descriptor reached;
  while (path.size() >= PATH_MAX) {
    const std::size_t slash = path.rfind('/', PATH_MAX - 1);
    if (slash == std::string::npos) return std::unexpected(ENAMETOOLONG);
    auto next = open_beneath(reached ? reached.get() : directory, path.substr(0, slash), O_PATH | O_DIRECTORY);
    if (!next) return next;
    reached = std::move(*next);
    path.erase(0, slash + 1);
  }
  return open_beneath(reached ? reached.get() : directory, path, flags | O_DIRECTORY);
}

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { closedir(directory); }
};

/// Calls `visit` with every name in a directory, in the order of the file system, until it says false. Names may be
/// removed meanwhile.
[[nodiscard]] inline OrErrno<void> for_each_name(int directory, const std::function<bool(const std::string&)>& visit) {
  const int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return std::unexpected(errno);
  const std::unique_ptr<DIR, CloseDirectory> stream(fdopendir(fd));
  if (!stream) {
    ::close(fd);
    return std::unexpected(ENOMEM);
  }
  while (true) {
    errno = 0;
    const dirent* entry = readdir(stream.get());
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != ".." && !visit(name)) return {};
  }
  if (errno != 0) return std::unexpected(errno);
  return {};
}

}  // namespace ullage
