// SPDX-License-Identifier: Apache-2.0
// Keeps what is made away from what was removed lately. ext4 without a journal gives no inode out again for up to six
// minutes after its file was removed, and each create looks past all of those in its block group.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

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
/// Nullopt: the file system makes none.
[[nodiscard]] std::optional<UnnamedFiles> make_unnamed_files(int directory);

/// What a dataset's directory will hold.
struct Contents {
  std::uint64_t files = 0;
  std::uint64_t directories = 0;  // with files in them
};
/// Returns the groups that its files may fill, in that order: its own, those at distances that double from each of the
/// directories in it, and those behind it (`find_group_other` of fs/ext4/ialloc.c; with flex_bg the last alone).
/// `groups`: all that there are.
[[nodiscard]] std::vector<std::uint64_t> groups_to_fill(ino_t directory, const Contents& contents,
                                                        std::uint64_t groups);

/// A directory that could hold a dataset, and whether new files are slow in its group.
struct LookedAt {
  ino_t inode = 0;
  bool is_slow = false;
};
/// Returns the index of the directory whose files will meet the fewest groups that are used or slow, and these late. A
/// group that nobody looked at is as slow as the slower of the two nearest that somebody did. `looks` holds at least
/// one.
[[nodiscard]] std::size_t best_place(std::span<const LookedAt> looks, const std::set<std::uint64_t>& used,
                                     const Contents& contents, std::uint64_t groups);

class BlockGroups final {
 public:
  /// `folder` must be ours. From now on the file system puts each directory that is made in it into a group of its own
  /// (FS_TOPDIR_FL). Null where removed files slow nothing down, or the flag may not be set: the folder is as it was.
  [[nodiscard]] static std::unique_ptr<BlockGroups> spread(int folder);

  /// To be told before settle() what the directory will hold.
  void expect(const Contents& contents) noexcept { contents_ = contents; }
  /// To be told of a directory that was just made in `folder`, and that nobody else has opened: it is replaced by
  /// another where its files would fill groups in which files were removed, by this folder's datasets or, as new files
  /// tell, by anybody.
  void settle(int folder, const std::string& name);
  [[nodiscard]] std::optional<NewFileCost> cost_in(int directory);

  /// Removes the directories that a launch has left which chose among them, and says how many there were.
  static std::size_t remove_spares(int folder);

 private:
  struct Place {
    std::string name;
    ino_t inode = 0;
    UnnamedFiles unnamed;
  };
  /// A directory with an empty file in it, and what that took of a core.
  struct Spare {
    std::string name;
    ino_t inode = 0;
    std::int64_t each_ns = 0;
  };
  [[nodiscard]] bool look_at(int folder, const std::string& name, std::vector<Place>& places);
  [[nodiscard]] bool is_slow(const Place& place) const;
  void look_at_others(int folder, std::vector<Place>& places);
  void survey(int folder);
  void take_best_spare(int folder, const std::string& name);
  void use(Place place);

  std::uint64_t groups_ = 0;
  Contents contents_;
  std::vector<Spare> spares_;
  std::deque<std::set<std::uint64_t>> used_;  // what each dataset of this folder may have filled
  std::int64_t least_ns_ = INT64_MAX;
  UnnamedFiles held_;  // in the directory that was settled last: once gone, they would be looked past there
};

}  // namespace ullage
