// SPDX-License-Identifier: Apache-2.0
// Keeps what is made away from what was removed lately. ext4 without a journal gives no inode out again for up to six
// minutes after its file was removed, and each create looks past all of those in its block group.
#pragma once

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/std.hpp"
#include "storage/dataset_removal.hpp"
#include "storage/directory_reader.hpp"
#include "storage/removed_groups.hpp"

namespace ullage {

/// Says what a file without a name costs, in time of a core: in one directory, and at least anywhere in the folder.
struct NewFileCost {
  std::int64_t here_ns = 0;
  std::int64_t least_ns = 0;
};

/// Files without a name, all of them there at once: one that is gone is given out again within the same second, and
/// would hide what lies behind it. `each_ns`: what the later ones took of a core, the median.
struct UnnamedFiles {
  std::vector<Descriptor> files;
  std::int64_t each_ns = 0;
};

inline constexpr int files_a_look = 32;  // removed inodes lie where new ones are looked for first

/// Nullopt: the file system makes none.
[[nodiscard]] inline std::optional<UnnamedFiles> make_unnamed_files(int directory) {
  UnnamedFiles made;
  std::array<std::int64_t, files_a_look> took{};
  for (auto& each_ns : took) {
    const std::int64_t from = cpu_time_ns(CLOCK_THREAD_CPUTIME_ID);
    made.files.emplace_back(openat(directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
    each_ns = cpu_time_ns(CLOCK_THREAD_CPUTIME_ID) - from;
    if (!made.files.back()) return std::nullopt;
  }
  const auto middle = took.end() - files_a_look / 4;
  std::nth_element(took.begin() + files_a_look / 2, middle, took.end());
  made.each_ns = *middle;
  return made;
}

inline constexpr const char* spare_prefix = ".ullage-spare-";
inline constexpr int most_spares = 512;
inline constexpr int most_spare_looks = 12;
inline constexpr std::size_t enough_groups = 160;  // 1.3 million files
inline constexpr std::int64_t slower = 2;

/// The kernel skips what was removed lately where no journal holds the removal back, and names journals by the device.
inline bool remembers_removals(int folder) {
  struct statfs kind{};
  struct stat status{};
  if (fstatfs(folder, &kind) != 0 || kind.f_type != EXT4_SUPER_MAGIC || fstat(folder, &status) != 0) return false;
  std::error_code error;
  const auto device = std::filesystem::read_symlink(
      "/sys/dev/block/" + std::to_string(major(status.st_dev)) + ":" + std::to_string(minor(status.st_dev)), error);
  if (error) return false;
  const std::string journal = device.filename().string() + "-";
  const std::filesystem::directory_iterator journals("/proc/fs/jbd2", error);
  return error || std::none_of(begin(journals), end(journals), [&](const auto& entry) {
           return entry.path().filename().string().starts_with(journal);
         });
}

class BlockGroups final {
 public:
  /// `folder` must be ours. From now on the file system puts each directory that is made in it into a group of its own
  /// (FS_TOPDIR_FL). Null where removed files slow nothing down, or the flag may not be set: the folder is as it was.
  [[nodiscard]] static std::unique_ptr<BlockGroups> spread(int folder) {
    if (!remembers_removals(folder)) return nullptr;
    int flags = 0;
    if (ioctl(folder, FS_IOC_GETFLAGS, &flags) != 0) return nullptr;
    flags |= FS_TOPDIR_FL;
    return ioctl(folder, FS_IOC_SETFLAGS, &flags) == 0 ? std::make_unique<BlockGroups>(folder) : nullptr;
  }

  /// `folder` is not owned.
  explicit BlockGroups(int folder) : removed_(RemovedGroups::beside(folder)), folder_(folder) {}
  BlockGroups(const BlockGroups&) = delete;
  BlockGroups& operator=(const BlockGroups&) = delete;
  ~BlockGroups() {
    std::set<BlockGroup> left;
    for (auto& [name, groups] : of_datasets_) left.merge(groups);
    removed_.enter(left);
  }

  /// To be told of a directory that was just made in the folder, and that nobody else has opened: it is replaced by
  /// another where files were removed in its group or in those that come after it, by earlier datasets or, as new files
  /// tell, by anybody.
  void settle(const std::string& name) {
    enter_removed();
    auto chosen = look_at(name);
    // A name decides which group comes first, and a run before this one had the same names. So another is tried always,
    // twice for the first of all to have something to be compared with.
    for (int tries = 0, looks = 0; chosen && tries < most_spares && looks < most_spare_looks; ++tries) {
      if (looks >= 2 && is_fresh(*chosen) && chosen->groups == enough_groups) break;
      const std::string spare = spare_prefix + std::to_string(now_ns());
      if (mkdirat(folder_, spare.c_str(), 0700) != 0) break;
      if (groups_from(spare) >= chosen->groups || !is_fresh(*chosen)) {
        ++looks;
        auto found = look_at(spare);
        if (found && is_better(*found, *chosen) && renameat(folder_, spare.c_str(), folder_, name.c_str()) == 0)
          chosen = std::move(found);
      }
      (void)unlinkat(folder_, spare.c_str(), AT_REMOVEDIR);
    }
    if (!chosen) return;
    removed_.enter(of_datasets_[name] = {block_group_of(chosen->inode)});
    held_ = std::move(chosen->unnamed);
  }

  /// Of a dataset's directory. Also looks where its files are, to know it when they are gone.
  [[nodiscard]] std::optional<NewFileCost> cost_in(const std::string& name) {
    const auto directory = open_beneath(folder_, name, O_RDONLY | O_DIRECTORY);
    const auto unnamed = directory ? make_unnamed_files(directory->get()) : std::nullopt;
    if (!unnamed || least_ns_ == INT64_MAX) return std::nullopt;
    find_block_groups(directory->get(), of_datasets_[name]);
    removed_.enter(of_datasets_[name]);
    least_ns_ = std::min(least_ns_, unnamed->each_ns);
    return NewFileCost{std::max(unnamed->each_ns, held_.each_ns), least_ns_};
  }

  /// Removes the empty directories that a launch has left which was killed while it chose among them.
  static void remove_spares(int folder) {
    (void)for_each_name(folder, [&](const std::string& name) {
      if (name.starts_with(spare_prefix)) (void)unlinkat(folder, name.c_str(), AT_REMOVEDIR);
      return true;
    });
  }

 private:
  struct Place {
    ino_t inode = 0;
    std::size_t groups = 0;  // that its files fill before they come to removed ones
    UnnamedFiles unnamed;
  };

  [[nodiscard]] std::size_t groups_from(const std::string& name) const {
    struct stat status{};
    return fstatat(folder_, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0
               ? removed_.fresh_from(status.st_ino, status.st_ino + files_a_look + 1, enough_groups)
               : 0;
  }

  [[nodiscard]] std::optional<Place> look_at(const std::string& name) {
    const auto directory = open_beneath(folder_, name, O_RDONLY | O_DIRECTORY);
    struct stat status{};
    if (!directory || fstat(directory->get(), &status) != 0) return std::nullopt;
    auto unnamed = make_unnamed_files(directory->get());
    if (!unnamed) return std::nullopt;
    least_ns_ = std::min(least_ns_, unnamed->each_ns);
    struct stat last{};
    if (fstat(unnamed->files.back().get(), &last) != 0) return std::nullopt;
    return Place{status.st_ino, removed_.fresh_from(status.st_ino, last.st_ino + 1, enough_groups),
                 std::move(*unnamed)};
  }

  [[nodiscard]] bool is_fresh(const Place& place) const {
    return place.groups > 0 && place.unnamed.each_ns <= slower * least_ns_;
  }

  /// What was removed within this second is not skipped yet, so a place that the memory names will get slower than it
  /// is.
  [[nodiscard]] bool is_better(const Place& found, const Place& chosen) const {
    if (is_fresh(found) != is_fresh(chosen)) return is_fresh(found);
    if (found.groups != chosen.groups) return found.groups > chosen.groups;
    return is_fresh(found) || slower * found.unnamed.each_ns <= chosen.unnamed.each_ns;
  }

  /// Datasets that are not there any more lie where files were removed by now.
  void enter_removed() {
    std::set<BlockGroup> removed;
    std::erase_if(of_datasets_, [&](const auto& dataset) {
      const bool gone = faccessat(folder_, dataset.first.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0;
      if (gone) removed.insert(dataset.second.begin(), dataset.second.end());
      return gone;
    });
    removed_.enter(removed);
  }

  RemovedGroups removed_;
  std::map<std::string, std::set<BlockGroup>> of_datasets_;
  int folder_;
  std::int64_t least_ns_ = INT64_MAX;
  UnnamedFiles held_;  // in the directory that was settled last: once gone, they would be looked past there
};

}  // namespace ullage
