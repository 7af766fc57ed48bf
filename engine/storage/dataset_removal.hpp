// SPDX-License-Identifier: Apache-2.0
// Removes what a manifest's entry lists, and nothing else.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "base/descriptor.hpp"
#include "base/std.hpp"
#include "storage/directory_reader.hpp"
#include "storage/manifest.hpp"
#include "storage/silly_rename.hpp"

namespace ullage {

/// Says what a removal did and could not do.
struct Leftovers {
  std::uint64_t removed_files = 0;
  std::vector<std::string> left;  // "name: reason", at most 32

  std::atomic<std::uint64_t>* steps = nullptr;  // counted up with every name that is looked at; may be null

  static constexpr std::size_t most_left = 32;
  void step() const noexcept {
    if (steps != nullptr) steps->fetch_add(1, std::memory_order_relaxed);
  }

  void note(const std::string& name, const std::string& reason) {
    if (left.size() < most_left) left.push_back(name + ": " + reason);
  }

  void note(const std::string& name, int errno_value) {  // what is not there is no leftover
    if (errno_value == EXDEV) return note(name, "another file system is mounted on it, so it was not touched");
    if (errno_value != ENOENT) note(name, std::generic_category().message(errno_value));
  }
};

/// `part` of `parts`: of the dataset's items those that are this part's, so that several ranks can remove at once; the
/// directories around them go with everything else, not with `items_only`.
struct Part {
  int part = 0;
  int parts = 1;
  bool items_only = false;
  [[nodiscard]] bool has(std::uint64_t index) const noexcept {
    return index % static_cast<std::uint64_t>(parts) == static_cast<std::uint64_t>(part);
  }
};

/// unlinkat(2) of a safe name, however deep, no symbolic link followed; a directory as remove_empty_directory does it.
[[nodiscard]] inline OrErrno<void> remove_name(int folder, const std::string& name, int flags) {
  if (!is_safe_name(name)) return std::unexpected(EINVAL);
  const auto [parent_name, base] = split_name(name);
  Descriptor parent;
  if (!parent_name.empty()) {
    auto opened = open_beneath(folder, parent_name, O_PATH | O_DIRECTORY);
    if (!opened) return std::unexpected(opened.error());
    parent = std::move(*opened);
  }
  const int directory = parent ? parent.get() : folder;
  if (flags == AT_REMOVEDIR) return remove_empty_directory(directory, base);
  if (unlinkat(directory, base.c_str(), flags) != 0) return std::unexpected(errno);
  return {};
}

/// Files of the manifest's own numbering.
class NumberedRemoval final {
 public:
  NumberedRemoval(int folder, const std::string& path, const DatasetEntry& entry, Part part, Leftovers& leftovers)
      : folder_(folder), path_(path), entry_(entry), part_(part), leftovers_(leftovers) {}

  void run() {
    for (std::uint64_t index = 0; index < entry_.files; ++index) {
      if (!part_.has(index)) continue;
      leftovers_.step();
      const auto file = remove_name(folder_, entry_.file_name(index), 0);
      leftovers_.removed_files += file.has_value() ? 1 : 0;
      if (!file) note(entry_.file_name(index), file.error());
      if (!entry_.directory_per_process || part_.items_only) continue;
      if (const auto own = remove_name(folder_, entry_.directory_name(index), AT_REMOVEDIR); !own)
        note(entry_.directory_name(index), own.error());
    }
  }

  /// Removes what the library of a run that was ended left beside the files.
  void take_side_files(int directory) {
    std::vector<std::string> found;
    const auto visited = for_each_name(directory, [&](const std::string& name) {
      const auto file = file_beside(name);
      if (file && entry_.has_file(*file)) found.push_back(name);
      return true;
    });
    if (!visited) note(entry_.directory, visited.error());
    for (const auto& name : found)
      if (unlinkat(directory, name.c_str(), 0) != 0) note(entry_.directory + "/" + name, errno);
  }

 private:
  void note(const std::string& name, int errno_value) { leftovers_.note(path_ + "/" + name, errno_value); }

  int folder_;
  const std::string& path_;
  const DatasetEntry& entry_;
  Part part_;
  Leftovers& leftovers_;
};

/// A tree is removed by what is found in it, since how far it was filled is in no manifest: every name must be one of
/// the tree's. `Shape` is that of a tree of items, of the files of steps or of those of a grid.
template <class Shape>
class TreeRemoval final {
 public:
  TreeRemoval(const Shape& shape, Part part, Leftovers& leftovers)
      : shape_(shape), part_(part), leftovers_(leftovers) {}

  void run(int directory, const std::string& path) {
    const auto visited = for_each_name(directory, [&](const std::string& name) {
      remove(directory, path, name);
      return true;
    });
    if (!visited) leftovers_.note(path, visited.error());
  }

 private:
  void remove(int directory, const std::string& path, const std::string& name) {
    leftovers_.step();
    if (const auto item = shape_.parse_item(name)) {
      if (!part_.has(item->rank + item->item)) return;
      const bool gone = unlinkat(directory, name.c_str(), shape_.directories ? AT_REMOVEDIR : 0) == 0;
      leftovers_.removed_files += gone && !shape_.directories ? 1 : 0;
      if (!gone) leftovers_.note(path + "/" + name, errno);
    } else if (shape_.is_directory_name(name)) {
      descend(directory, path + "/" + name, name);
    } else if (!is_silly_name(name)) {
      leftovers_.note(path + "/" + name, "it is in no manifest, so it was not removed");
    }
  }

  void descend(int directory, const std::string& path, const std::string& name) {
    const auto inner = open_beneath(directory, name, O_RDONLY | O_DIRECTORY);
    if (!inner) return leftovers_.note(path, inner.error());
    run(inner->get(), path);
    if (part_.items_only) return;
    if (const auto removed = remove_empty_directory(directory, name); !removed) leftovers_.note(path, removed.error());
  }

  const Shape& shape_;
  Part part_;
  Leftovers& leftovers_;
};

/// `folder` is the run folder's descriptor, `path` what to call it.
inline void remove_dataset(int folder, const std::string& path, const DatasetEntry& entry, Part part,
                           Leftovers& leftovers) {
  const std::string name = path + "/" + entry.directory;
  const auto directory = open_beneath(folder, entry.directory, O_RDONLY | O_DIRECTORY);
  if (!directory) return leftovers.note(name, directory.error());
  if (entry.tree) {
    TreeRemoval(*entry.tree, part, leftovers).run(directory->get(), name);
  } else if (entry.steps) {
    TreeRemoval(*entry.steps, part, leftovers).run(directory->get(), name);
  } else if (entry.grid) {
    TreeRemoval(*entry.grid, part, leftovers).run(directory->get(), name);
  } else {
    NumberedRemoval removal(folder, path, entry, part, leftovers);
    removal.run();
    if (entry.side_files && !part.items_only) removal.take_side_files(directory->get());
  }
  if (part.items_only) return;
  if (const auto removed = remove_name(folder, entry.directory, AT_REMOVEDIR); !removed)
    leftovers.note(name, removed.error());
}

}  // namespace ullage
