// SPDX-License-Identifier: Apache-2.0
#include "storage/directory_reader.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <cerrno>
#include <climits>
#include <utility>

namespace ullage {
namespace {

EntryKind kind_of(unsigned char type) {
  if (type == DT_DIR) return EntryKind::directory;
  return type == DT_UNKNOWN ? EntryKind::unknown : EntryKind::other;
}

bool is_dots(std::string_view name) { return name == "." || name == ".."; }

}  // namespace

OrErrno<bool> DirectoryReader::read(int directory) {
  entries_.clear();
  while (entries_.empty()) {  // a read may bring nothing but dots
    const ssize_t got = getdents64(directory, room_.data(), room_.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(errno);
    if (got == 0) return false;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      const auto* entry = reinterpret_cast<const dirent64*>(room_.data() + at);
      at += entry->d_reclen;
      const TerminatedName name(static_cast<const char*>(entry->d_name));
      if (!is_dots(name.view())) entries_.push_back({name, kind_of(entry->d_type)});
    }
  }
  return true;
}

OrErrno<Descriptor> open_directory(int directory, std::string path, int flags) {
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

}  // namespace ullage
