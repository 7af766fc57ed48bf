// SPDX-License-Identifier: Apache-2.0
// The directory that a target names, in which run folders are made, and what these are called.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <regex>
#include <system_error>

#include "base/descriptor.hpp"
#include "base/result.hpp"
#include "base/std.hpp"

namespace ullage {

struct TargetDirectory {
  Descriptor descriptor;
  std::string path;  // absolute, without symbolic links
};

/// Returns where a directory really is: asked of the kernel, so that nothing can change between looking and opening.
[[nodiscard]] inline std::string path_of(const Descriptor& directory, const std::string& fallback) {
  std::array<char, PATH_MAX> buffer{};
  const std::string link = "/proc/self/fd/" + std::to_string(directory.get());
  const ssize_t length = readlink(link.c_str(), buffer.data(), buffer.size());
  if (length > 0) return {buffer.data(), static_cast<std::size_t>(length)};
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(fallback.c_str(), nullptr), &std::free);
  return real ? std::string(real.get()) : fallback;
}

/// Returns what an errno says of a directory or a file, to stand behind its name.
[[nodiscard]] inline std::string reason_of(int errno_value) {
  switch (errno_value) {
    case ENOENT:
      return "does not exist";
    case ENOTDIR:
      return "is not a directory";
    case EROFS:
      return "is on a read-only file system";
    case EACCES:
    case EPERM:
      return "is not writable for this user";
    case ENOSPC:
      return "has no space left";
    case EDQUOT:
      return "is over this user's quota";
    case ELOOP:
      return "is a symbolic link, which is refused";
    case EXDEV:
      return "has another file system mounted on it, which is refused";
    default:
      return std::generic_category().message(errno_value);
  }
}

/// Symbolic links on the way to the target are the user's own and are followed, once.
[[nodiscard]] inline Result<TargetDirectory> open_target(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) return fail(environment_error(path, "is not a path"));
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor && errno == EACCES) descriptor = Descriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor) return fail(environment_error(path, reason_of(errno)));
  std::string real = path_of(descriptor, path);
  return TargetDirectory{std::move(descriptor), std::move(real)};
}

/// The path of `name` in `directory`.
[[nodiscard]] inline std::string joined(const std::string& directory, const std::string& name) {
  return directory == "/" ? directory + name : directory + "/" + name;
}

/// Success where nobody else owns `folder` or may write to it: it could be changed under our feet.
[[nodiscard]] inline Status check_private(const Descriptor& folder, const std::string& path) {
  struct stat status{};
  if (fstat(folder.get(), &status) != 0) return fail(environment_error(path, reason_of(errno)));
  if (status.st_uid != geteuid())
    return fail(
        environment_error(path, "belongs to user " + std::to_string(status.st_uid) + ", not to this one; refused"));
  if ((status.st_mode & 0777U) != 0700U)
    return fail(environment_error(path, "is open to other users (its mode is not 0700); refused"));
  return {};
}

// What run folders are called: ullage-RUN.

[[nodiscard]] inline std::string folder_name(const std::string& run_id) { return "ullage-" + run_id; }

/// The target of a run folder and the folder's name in it; environment error for a path of any other form.
[[nodiscard]] inline Result<SplitName> split_folder(const std::string& folder_path) {
  std::string trimmed = folder_path;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  SplitName named = split_name(trimmed);
  if (named.parent.empty()) named.parent = trimmed.starts_with('/') ? "/" : ".";
  const std::string prefix = folder_name("");
  if (!named.base.starts_with(prefix) || named.base == prefix)
    return fail(environment_error(folder_path, "is not a folder of ullage (they are called ullage-RUN); refused"));
  return named;
}

/// Returns whether a folder is called as those of the front's runs are: ullage-20261122T232612Z-d2e508, perhaps with
/// more behind. Where no marker is left, an empty folder of any other name may be somebody's own.
[[nodiscard]] inline bool is_named_by_front(const std::string& name) {
  static const std::regex form("ullage-[0-9]{8}T[0-9]{6}Z-[0-9a-f]{6}.*");
  return std::regex_match(name, form);
}

}  // namespace ullage
