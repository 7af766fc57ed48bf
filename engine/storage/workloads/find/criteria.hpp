// SPDX-License-Identifier: Apache-2.0
// Which entries are meant: the tests -name, -newer and -size, as GNU find understands them. No I/O.
#pragma once

#include <fnmatch.h>

#include <charconv>
#include <system_error>

#include "base/result.hpp"
#include "base/std.hpp"
#include "storage/directory_reader.hpp"

namespace ullage {

inline std::vector<std::string> split_at_stars(const std::string& glob) {
  std::vector<std::string> pieces(1);
  for (const char c : glob) {
    if (c == '*')
      pieces.emplace_back();
    else
      pieces.back() += c;
  }
  return pieces;
}

/// A shell pattern over a whole base name, byte by byte (the C locale); as fnmatch(3) without flags, so `*` also takes
/// a leading dot, and a backslash takes the meaning from what follows.
class NamePattern final {
 public:
  explicit NamePattern(std::string glob)
      : glob_(std::move(glob)),
        plain_(glob_.find_first_of("?[\\") == std::string::npos),
        pieces_(split_at_stars(glob_)) {}

  [[nodiscard]] bool matches(const TerminatedName& name) const noexcept {
    return plain_ ? matches_pieces(name.view()) : fnmatch(glob_.c_str(), name.c_str(), 0) == 0;
  }

 private:
  /// The first piece begins the name, the last one ends it, and each of those between is best taken where it comes
  /// first.
  [[nodiscard]] bool matches_pieces(std::string_view name) const noexcept {
    const std::string& first = pieces_.front();
    const std::string& last = pieces_.back();
    if (pieces_.size() == 1) return name == first;
    if (name.size() < first.size() + last.size() || !name.starts_with(first) || !name.ends_with(last)) return false;
    name = name.substr(first.size(), name.size() - first.size() - last.size());
    for (std::size_t i = 1; i + 1 < pieces_.size(); ++i) {
      const std::size_t at = name.find(pieces_[i]);
      if (at == std::string_view::npos) return false;
      name.remove_prefix(at + pieces_[i].size());
    }
    return true;
  }

  std::string glob_;
  bool plain_;                       // nothing but literal text and `*`
  std::vector<std::string> pieces_;  // of a plain one: the literal text around its `*`, n + 1 for n of them
};

/// 0: no such letter.
inline std::uint64_t unit_bytes_of(char letter) {
  switch (letter) {
    case 'c':
      return 1;
    case 'w':
      return 2;
    case 'b':
      return 512;
    case 'k':
      return 1024;
    case 'M':
      return std::uint64_t{1} << 20;
    case 'G':
      return std::uint64_t{1} << 30;
    default:
      return 0;
  }
}

/// find's -size word: [+-]N[cwbkMG]. Sizes are rounded up to whole units before they are compared.
class SizeTest final {
 public:
  /// The error's text says what a word must be; `where` becomes its place.
  [[nodiscard]] static Result<SizeTest> parse(const std::string& word, const std::string& where) {
    std::string_view rest = word;
    Relation relation = Relation::equal;
    if (rest.starts_with('+') || rest.starts_with('-')) {
      relation = rest.front() == '+' ? Relation::more : Relation::less;
      rest.remove_prefix(1);
    }
    std::uint64_t unit_bytes = unit_bytes_of(rest.empty() ? '\0' : rest.back());
    if (unit_bytes != 0)
      rest.remove_suffix(1);
    else
      unit_bytes = unit_bytes_of('b');
    std::uint64_t units = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), units);
    if (error != std::errc{} || end != rest.data() + rest.size())
      return fail(bad_plan(where, "is '" + word + "', must be [+-]N[cwbkMG] as GNU find's -size: 3901c, +1M, -2k"));
    return SizeTest(relation, units, unit_bytes);
  }

  [[nodiscard]] bool matches(std::uint64_t size_bytes) const noexcept {
    const std::uint64_t rounded_up = size_bytes / unit_bytes_ + (size_bytes % unit_bytes_ != 0 ? 1 : 0);
    switch (relation_) {
      case Relation::less:
        return rounded_up < units_;
      case Relation::more:
        return rounded_up > units_;
      case Relation::equal:
        break;
    }
    return rounded_up == units_;
  }

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
