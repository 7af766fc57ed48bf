// SPDX-License-Identifier: Apache-2.0
// What a walk has still to do, and how a part of it goes to another rank.
#pragma once

#include <cstring>
#include <deque>

#include "base/descriptor.hpp"
#include "base/pinned.hpp"
#include "base/std.hpp"
#include "storage/directory_reader.hpp"

namespace ullage {

/// A directory of the walk. Its descriptor is kept while `held`, which counts those of all directories, has room.
class WalkedDirectory final : Pinned {
 public:
  WalkedDirectory(std::string path, std::size_t& held) : path_(std::move(path)), held_(held) {}
  ~WalkedDirectory() { let_go(); }

  [[nodiscard]] const std::string& path() const { return path_; }  // beneath the root; empty: the root
  [[nodiscard]] std::string path_of(std::string_view name) const {
    return path_.empty() ? std::string(name) : path_ + "/" + std::string(name);
  }
  [[nodiscard]] bool is_held() const { return static_cast<bool>(descriptor_); }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }

  void hold(Descriptor descriptor) {
    let_go();
    descriptor_ = std::move(descriptor);
    if (is_held()) ++held_;
  }

  void let_go() {
    if (!is_held()) return;
    descriptor_ = Descriptor();
    --held_;
  }

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

inline constexpr unsigned meant_bit = 1;
inline constexpr unsigned directory_bit = 2;

/// Names whose status is asked for, each behind a byte that says why and before a NUL.
class LookList final {
 public:
  struct Look {
    TerminatedName name;
    bool may_be_meant = false;
    bool may_be_directory = false;
  };

  void add(const Look& look) {
    names_ += static_cast<char>((look.may_be_meant ? meant_bit : 0U) | (look.may_be_directory ? directory_bit : 0U));
    names_ += look.name.view();
    names_ += '\0';
    ++size_;
  }

  [[nodiscard]] std::size_t size() const { return size_; }

  /// Returns what was added since the last call, as a WalkItem holds it.
  [[nodiscard]] std::string take_names() {
    size_ = 0;
    return std::exchange(names_, {});
  }

  /// The first of `names`, which is removed from them.
  [[nodiscard]] static Look next(std::string_view& names) {
    const unsigned why = static_cast<unsigned char>(names.front());
    names.remove_prefix(1);
    const TerminatedName name(&names.front());
    names.remove_prefix(name.size() + 1);
    return {name, (why & meant_bit) != 0, (why & directory_bit) != 0};
  }

 private:
  std::string names_;
  std::size_t size_ = 0;
};

inline void append(std::string& text, std::string_view part) {
  const auto length = static_cast<std::uint32_t>(part.size());
  text.append(reinterpret_cast<const char*>(&length), sizeof(length));
  text.append(part);
}

inline std::string_view cut(std::string_view& text) {
  std::uint32_t length = 0;
  std::memcpy(&length, text.data(), sizeof(length));
  const std::string_view part = text.substr(sizeof(length), length);
  text.remove_prefix(sizeof(length) + length);
  return part;
}

/// Newest first for its own rank, so that little waits; oldest first for others, since what lies nearest to the root is
/// most work.
class WalkQueue final {
 public:
  void push(WalkItem item) {
    bytes_ += item.bytes();
    items_.push_back(std::move(item));
  }

  [[nodiscard]] WalkItem pop() {
    WalkItem item = std::move(items_.back());
    items_.pop_back();
    bytes_ -= item.bytes();
    return item;
  }

  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  void clear() {
    items_.clear();
    bytes_ = 0;
  }

  /// Half of the items, but not much more than `most_bytes`, as text; empty when there are none.
  /// An item in writing: its kind, whether it is in the directory of the one before it, else that directory's path, and
  /// its names.
  [[nodiscard]] std::string give(std::size_t most_bytes) {
    std::string given;
    const WalkedDirectory* last = nullptr;
    std::shared_ptr<WalkedDirectory> keeps_last;
    for (std::size_t left = (items_.size() + 1) / 2; left > 0 && given.size() < most_bytes; --left) {
      WalkItem item = std::move(items_.front());
      items_.pop_front();
      bytes_ -= item.bytes();
      const bool same = item.directory.get() == last;
      given += static_cast<char>(item.kind);
      given += same ? '\1' : '\0';
      if (!same) append(given, item.directory->path());
      append(given, item.names);
      keeps_last = std::move(item.directory);
      last = keeps_last.get();
    }
    return given;
  }

  /// The directories of what is taken count in `held` when they hold descriptors.
  void take(std::string_view given, std::size_t& held) {
    std::shared_ptr<WalkedDirectory> directory;
    while (!given.empty()) {
      const auto kind = static_cast<WalkItem::Kind>(given[0]);
      const bool same = given[1] != '\0';
      given.remove_prefix(2);
      if (!same) directory = std::make_shared<WalkedDirectory>(std::string(cut(given)), held);
      push({kind, directory, std::string(cut(given))});
    }
  }

 private:
  std::deque<WalkItem> items_;
  std::size_t bytes_ = 0;
};

}  // namespace ullage
