// SPDX-License-Identifier: Apache-2.0
// What is in a directory, many names a system call, however deep it lies.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"

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
};

/// Reads one directory after the other into the same room.
class DirectoryReader final {
 public:
  /// Room for one read: no less than the longest name and what stands around it.
  explicit DirectoryReader(std::size_t room_bytes) : room_(room_bytes) {}

  /// Reads the next entries of an open directory, without "." and "..". False: there are no more.
  [[nodiscard]] OrErrno<bool> read(int directory);
  /// Returns what the last read gave; the names live until the next one.
  [[nodiscard]] const std::vector<NamedEntry>& entries() const noexcept { return entries_; }

 private:
  std::vector<std::byte> room_;
  std::vector<NamedEntry> entries_;
};

/// open_beneath(directory, path, flags | O_DIRECTORY), also where the path is longer than the system takes in one go.
[[nodiscard]] OrErrno<Descriptor> open_directory(int directory, std::string path, int flags);

}  // namespace ullage
