// SPDX-License-Identifier: Apache-2.0
// Keeps what is made away from what was removed lately. ext4 without a journal gives no inode out again for up to six
// minutes after its file was removed, and each create looks past all of those in its block group.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
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

class BlockGroups final {
 public:
  /// `folder` must be ours. From now on the file system puts each directory that is made in it into a group of its own
  /// (FS_TOPDIR_FL). Null where removed files slow nothing down, or the flag may not be set: the folder is as it was.
  [[nodiscard]] static std::unique_ptr<BlockGroups> spread(int folder);

  /// To be told of a directory that was just made in `folder`, and that nobody else has opened: it is replaced by
  /// another where files were removed in its group, by this folder's datasets or, as new files tell, by anybody.
  void settle(int folder, const std::string& name);
  [[nodiscard]] std::optional<NewFileCost> cost_in(int directory);

  /// Removes the empty directories that a launch has left which was killed while it chose among them.
  static void remove_spares(int folder);

 private:
  struct Place {
    ino_t inode = 0;
    UnnamedFiles unnamed;
  };
  [[nodiscard]] std::optional<Place> look_at(int folder, const std::string& name);
  [[nodiscard]] bool is_near_used(const Place& place) const;
  [[nodiscard]] bool is_fresh(const Place& place) const;
  [[nodiscard]] bool is_better(const Place& found, const Place& chosen) const;

  std::vector<ino_t> used_;
  std::int64_t least_ns_ = INT64_MAX;
  UnnamedFiles held_;  // in the directory that was settled last: once gone, they would be looked past there
};

}  // namespace ullage
