// SPDX-License-Identifier: Apache-2.0
// Which entries are meant: the tests -name, -newer and -size, as GNU find understands them. No I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "storage/directory_reader.hpp"

namespace ullage {

/// A shell pattern over a whole base name, byte by byte (the C locale); as fnmatch(3) without flags, so `*` also takes
/// a leading dot, and a backslash takes the meaning from what follows.
class NamePattern final {
 public:
  explicit NamePattern(std::string glob);
  [[nodiscard]] bool matches(const TerminatedName& name) const noexcept;

 private:
  [[nodiscard]] bool matches_pieces(std::string_view name) const noexcept;
  std::string glob_;
  bool plain_;                       // nothing but literal text and `*`
  std::vector<std::string> pieces_;  // of a plain one: the literal text around its `*`, n + 1 for n of them
};

/// find's -size word: [+-]N[cwbkMG]. Sizes are rounded up to whole units before they are compared.
class SizeTest final {
 public:
  /// The error's text says what a word must be; `where` becomes its place.
  [[nodiscard]] static Result<SizeTest> parse(const std::string& word, const std::string& where);
  [[nodiscard]] bool matches(std::uint64_t size_bytes) const noexcept;

 private:
  enum class Relation { less, equal, more };
  SizeTest(Relation relation, std::uint64_t units, std::uint64_t unit_bytes)
      : relation_(relation), units_(units), unit_bytes_(unit_bytes) {}
  Relation relation_;
  std::uint64_t units_;
  std::uint64_t unit_bytes_;
};

/// Nanoseconds a file time has, in the order of time.
struct FileTime {
  std::int64_t seconds = 0;
  std::uint32_t nanoseconds = 0;
  [[nodiscard]] auto operator<=>(const FileTime&) const = default;
};

/// All of them have to hold; what is not there always does.
struct FindCriteria {
  std::optional<NamePattern> name;
  std::optional<FileTime> newer_than;  // modified strictly later
  std::optional<SizeTest> size;

  [[nodiscard]] bool accepts_name(const TerminatedName& base) const noexcept { return !name || name->matches(base); }
  /// Returns whether an accepted name is not yet an answer.
  [[nodiscard]] bool asks_status() const noexcept { return newer_than || size; }
  [[nodiscard]] bool accepts_status(FileTime modified, std::uint64_t size_bytes) const noexcept {
    return (!newer_than || modified > *newer_than) && (!size || size->matches(size_bytes));
  }
};

}  // namespace ullage
