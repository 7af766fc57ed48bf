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

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "storage/dataset_removal.hpp"
#include "storage/directory_reader.hpp"

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
inline constexpr int most_spares = 12;
inline constexpr std::size_t most_used = 32;
inline constexpr std::int64_t slower = 2;

/// Groups share their inode tables by sixteen, of 8192 inodes each where nobody asked for others.
inline constexpr ino_t inodes_together = ino_t{16} * 8192;

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
    return ioctl(folder, FS_IOC_SETFLAGS, &flags) == 0 ? std::make_unique<BlockGroups>() : nullptr;
  }

  /// To be told of a directory that was just made in `folder`, and that nobody else has opened: it is replaced by
  /// another where files were removed in its group, by this folder's datasets or, as new files tell, by anybody.
  void settle(int folder, const std::string& name) {
    auto chosen = look_at(folder, name);
    // A name decides which group comes first, and a run before this one had the same names. So another is tried always,
    // twice for the first of all to have something to be compared with.
    for (int i = 0; chosen && i < most_spares && (i < 2 || !is_fresh(*chosen)); ++i) {
      const std::string spare = spare_prefix + std::to_string(now_ns());
      if (mkdirat(folder, spare.c_str(), 0700) != 0) break;
      auto found = look_at(folder, spare);
      if (found && is_better(*found, *chosen) && renameat(folder, spare.c_str(), folder, name.c_str()) == 0)
        chosen = std::move(found);
      (void)unlinkat(folder, spare.c_str(), AT_REMOVEDIR);
    }
    if (!chosen) return;
    if (used_.size() == most_used) used_.erase(used_.begin());
    used_.push_back(chosen->inode);
    held_ = std::move(chosen->unnamed);
  }

  [[nodiscard]] std::optional<NewFileCost> cost_in(int directory) {
    const auto unnamed = make_unnamed_files(directory);
    if (!unnamed || least_ns_ == INT64_MAX) return std::nullopt;
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
    UnnamedFiles unnamed;
  };

  [[nodiscard]] std::optional<Place> look_at(int folder, const std::string& name) {
    const auto directory = open_beneath(folder, name, O_RDONLY | O_DIRECTORY);
    struct stat status{};
    if (!directory || fstat(directory->get(), &status) != 0) return std::nullopt;
    auto unnamed = make_unnamed_files(directory->get());
    if (!unnamed) return std::nullopt;
    least_ns_ = std::min(least_ns_, unnamed->each_ns);
    return Place{status.st_ino, std::move(*unnamed)};
  }

  [[nodiscard]] bool is_near_used(const Place& place) const {
    return std::ranges::any_of(
        used_, [&](ino_t used) { return std::max(used, place.inode) - std::min(used, place.inode) < inodes_together; });
  }

  [[nodiscard]] bool is_fresh(const Place& place) const {
    return place.unnamed.each_ns <= slower * least_ns_ && !is_near_used(place);
  }

  /// What was removed within this second is not skipped yet, so a place near a used one will get slower than it is.
  [[nodiscard]] bool is_better(const Place& found, const Place& chosen) const {
    if (is_near_used(found) != is_near_used(chosen)) return is_near_used(chosen);
    return is_fresh(found) || slower * found.unnamed.each_ns <= chosen.unnamed.each_ns;
  }

  std::vector<ino_t> used_;
  std::int64_t least_ns_ = INT64_MAX;
  UnnamedFiles held_;  // in the directory that was settled last: once gone, they would be looked past there
};

}  // namespace ullage
