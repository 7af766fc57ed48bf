// SPDX-License-Identifier: Apache-2.0
// Files beside ours that we have not made: what NFS and FUSE keep of a file that is removed while somebody has it open,
// under another name in the same directory, which cannot be removed before its last descriptor is closed; and what MPI
// libraries make for a file they have open.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/descriptor.hpp"
#include "base/hex.hpp"
#include "base/std.hpp"
#include "storage/directory_reader.hpp"

namespace ullage {

inline bool is_prefix_and_digits(std::string_view name, std::string_view prefix, std::size_t digits) noexcept {
  return name.size() == prefix.size() + digits && name.starts_with(prefix) && is_hex(name.substr(prefix.size()));
}

/// A name that such a client gives: .nfs and 24 hexadecimal digits, or .fuse_hidden and 16.
[[nodiscard]] inline bool is_silly_name(std::string_view name) noexcept {
  return is_prefix_and_digits(name, ".nfs", 24) || is_prefix_and_digits(name, ".fuse_hidden", 16);
}

/// Returns whether a directory holds nothing but such names, if anything; no when it cannot be read.
[[nodiscard]] inline bool holds_silly_names_only(int directory) {
  bool others = false;
  const auto visited = for_each_name(directory, [&](const std::string& name) {
    others = !is_silly_name(name);
    return !others;
  });
  return visited && !others;
}

inline constexpr int most_looks = 250;
inline constexpr std::chrono::milliseconds between_looks{20};

inline bool waits_for_client(int parent, const std::string& base) {
  const auto directory = open_beneath(parent, base, O_RDONLY | O_DIRECTORY);
  return directory && holds_silly_names_only(directory->get());
}

/// unlinkat(2) of the empty directory `base` in `parent`. Clients remove such files some time after the close: while
/// nothing else is in the way this waits for them, at most five seconds.
[[nodiscard]] inline OrErrno<void> remove_empty_directory(int parent, const std::string& base) {
  for (int look = 0;; ++look) {
    if (unlinkat(parent, base.c_str(), AT_REMOVEDIR) == 0) return {};
    const int why = errno;
    const bool is_full = why == ENOTEMPTY || why == EEXIST;
    if (!is_full || look == most_looks || !waits_for_client(parent, base)) return std::unexpected(why);
    std::this_thread::sleep_for(between_looks);
  }
}

// Files that an MPI library makes beside a file it has open, for its shared pointer, and leaves there when its ranks
// are ended.

inline bool is_number(std::string_view text) {
  constexpr std::size_t most_digits = 20;
  return !text.empty() && text.size() <= most_digits &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Takes the last `separator` and the number behind it off the end.
inline bool take_number(std::string_view& text, std::string_view separator) {
  const std::size_t at = text.rfind(separator);
  if (at == std::string_view::npos || !is_number(text.substr(at + separator.size()))) return false;
  text = text.substr(0, at);
  return true;
}

inline bool take_romio(std::string_view& name) {
  if (!name.starts_with('.')) return false;
  name.remove_prefix(1);
  if (take_number(name, ".shfp.")) return true;
  return take_number(name, ".") && take_number(name, ".shfp.");
}

inline bool take_ending(std::string_view& text, std::string_view ending) {
  if (!text.ends_with(ending)) return false;
  text.remove_suffix(ending.size());
  return true;
}

inline bool take_lock(std::string_view& name) {
  return take_ending(name, ".lock") && take_number(name, "-") && take_number(name, "-");
}

inline bool take_individual(std::string_view& name) {
  return take_number(name, ".data.") || take_number(name, ".metadata.") || take_number(name, ".locktest.");
}

/// The file in the same directory beside which `name` is such a file, by the naming of ROMIO (.FILE.shfp.N.N) or of
/// OMPIO's components `lockedfile` (FILE-N-N.lock; made for every file once it is chosen, as it is where ranks of
/// several nodes share one) and `individual` (FILE.data.N, FILE.metadata.N). Nothing for any other name. OMPIO's `sm`
/// keeps its own in the launcher's session directory.
[[nodiscard]] inline std::optional<std::string_view> file_beside(std::string_view name) {
  for (const auto take : {take_romio, take_lock, take_individual}) {
    std::string_view file = name;
    if (take(file) && !file.empty()) return file;
  }
  return std::nullopt;
}

}  // namespace ullage
