// SPDX-License-Identifier: Apache-2.0
// What a walk has still to do, and how a part of it goes to another rank.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/descriptor.hpp"
#include "storage/directory_reader.hpp"

namespace ullage {

/// A directory of the walk. Its descriptor is kept while `held`, which counts those of all directories, has room.
class WalkedDirectory final {
 public:
  WalkedDirectory(std::string path, std::size_t& held) : path_(std::move(path)), held_(held) {}
  WalkedDirectory(const WalkedDirectory&) = delete;
  WalkedDirectory& operator=(const WalkedDirectory&) = delete;
  ~WalkedDirectory() { let_go(); }

  [[nodiscard]] const std::string& path() const { return path_; }  // beneath the root; empty: the root
  [[nodiscard]] std::string path_of(std::string_view name) const {
    return path_.empty() ? std::string(name) : path_ + "/" + std::string(name);
  }
  [[nodiscard]] bool is_held() const { return static_cast<bool>(descriptor_); }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  void hold(Descriptor descriptor);
  void let_go();

 private:
  std::string path_;
  Descriptor descriptor_;
  std::size_t& held_;
};

/// A directory to be read, or names of one to be looked at.
struct WalkItem {
  enum class Kind : char { descend, look };
  Kind kind = Kind::descend;
  std::shared_ptr<WalkedDirectory> directory;
  std::string names;  // descend: the one in `directory` to be read; look: see LookList

  [[nodiscard]] std::size_t bytes() const { return sizeof(WalkItem) + names.size(); }
};

/// Names whose status is asked for, each behind a byte that says why and before a NUL.
class LookList final {
 public:
  struct Look {
    TerminatedName name;
    bool may_be_meant = false;
    bool may_be_directory = false;
  };
  void add(const Look& look);
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Returns what was added since the last call, as a WalkItem holds it.
  [[nodiscard]] std::string take_names();
  /// The first of `names`, which is removed from them.
  [[nodiscard]] static Look next(std::string_view& names);

 private:
  std::string names_;
  std::size_t size_ = 0;
};

/// Newest first for its own rank, so that little waits; oldest first for others, since what lies nearest to the root is
/// most work.
class WalkQueue final {
 public:
  void push(WalkItem item);
  [[nodiscard]] WalkItem pop();
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  void clear();

  /// Half of the items, but not much more than `most_bytes`, as text; empty when there are none.
  [[nodiscard]] std::string give(std::size_t most_bytes);
  /// The directories of what is taken count in `held` when they hold descriptors.
  void take(std::string_view given, std::size_t& held);

 private:
  std::deque<WalkItem> items_;
  std::size_t bytes_ = 0;
};

}  // namespace ullage
