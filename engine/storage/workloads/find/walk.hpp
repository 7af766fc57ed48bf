// SPDX-License-Identifier: Apache-2.0
// One rank's part of a walk through a tree that looks for entries, in pieces small enough to look after others in
// between. Symbolic links are entries and are never followed, as with `find -P`; so is the root.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <functional>

#include "base/resources.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "mpi/work_stealing.hpp"
#include "storage/directory_reader.hpp"
#include "storage/workloads/find/criteria.hpp"
#include "storage/workloads/find/items.hpp"

namespace ullage {

/// Bounds the memory and the descriptors of a walk on one rank.
struct WalkLimits {
  std::size_t room_bytes = std::size_t{256} << 10;   // of one read: some thousand names
  std::size_t waiting_bytes = std::size_t{8} << 20;  // of items; above, the walk goes into the depth
  std::size_t given_bytes = std::size_t{1} << 20;    // to another rank at once
  std::size_t held = 128;                            // descriptors of directories that have been read
};

inline constexpr std::size_t looks_an_item = 256;  // a fraction of a millisecond where inodes are cached
inline constexpr std::size_t names_a_look = 4;     // that can be read in the time of one look
inline constexpr std::size_t names_an_open = 16;

inline OrErrno<struct statx> status_of(int directory, const char* name, int flags, unsigned mask) {
  struct statx status{};
  if (statx(directory, name, flags | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, mask, &status) != 0)
    return std::unexpected(errno);
  return status;
}

inline FileTime modified(const struct statx& status) { return {status.stx_mtime.tv_sec, status.stx_mtime.tv_nsec}; }

class FindWalk final : public mpi::SharedWork {
 public:
  struct Counts {
    std::uint64_t scanned = 0;  // entries met
    std::uint64_t found = 0;    // of those, the ones that are meant
    std::uint64_t errors = 0;   // entries that could not be looked at, directories that could not be read to their end
  };
  /// Told of everything that is found, by its path beneath the root; that of the root is empty.
  using OnFound = std::function<void(const std::string&)>;

  /// `root` is an open directory; `path` is what errors call it, and its last component what a name is asked of.
  FindWalk(Descriptor root, std::string path, FindCriteria criteria, OnFound on_found = {}, WalkLimits limits = {})
      : root_(std::move(root)),
        path_(std::move(path)),
        criteria_(std::move(criteria)),
        on_found_(std::move(on_found)),
        limits_(limits),
        status_mask_(STATX_TYPE | (criteria_.newer_than ? STATX_MTIME : 0U) | (criteria_.size ? STATX_SIZE : 0U)),
        reader_(limits.room_bytes) {}

  /// Begins at the root. On one of the ranks that walk together.
  void begin() {
    ++counts_.scanned;
    const auto root = std::make_shared<WalkedDirectory>("", held_);
    if (criteria_.accepts_name(split_name(path_).base)) look_at_root(*root);
    Descriptor again(openat(root_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (again)
      start_reading(root, std::move(again));
    else
      note(errno, "open", "");
  }

  [[nodiscard]] bool has_work() const { return !readings_.empty() || !queue_.empty(); }
  [[nodiscard]] std::size_t waiting_bytes() const { return queue_.bytes(); }

  /// Does a piece of the work that is there; what it took, in names read.
  std::size_t step() {
    if (reads_on()) return read_on();
    const WalkItem item = queue_.pop();
    return item.kind == WalkItem::Kind::descend ? descend(item) : look(item);
  }

  /// Throws away what is left to do, now and later.
  void abandon() noexcept {
    abandoned_ = true;
    queue_.clear();
    readings_.clear();
  }

  /// Does so because of `error`, which it keeps.
  void give_up(const Error& error) noexcept {
    abandon();
    ++counts_.errors;
    if (!first_error_) first_error_ = error;
  }

  [[nodiscard]] std::string give() noexcept override {
    auto given = catch_resource_errors([this] -> Result<std::string> { return queue_.give(limits_.given_bytes); });
    if (given) return std::move(*given);
    give_up(given.error());
    return {};
  }

  void take(const std::string& given) noexcept override {
    if (abandoned_) return;
    const Status taken = catch_resource_errors([&] -> Status {
      queue_.take(given, held_);
      return {};
    });
    if (!taken) give_up(taken.error());
  }

  void lose() noexcept override { give_up(errno_error(ENOMEM, "get", "memory")); }

  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] const std::optional<Error>& first_error() const { return first_error_; }

 private:
  /// A directory that has not been read to its end.
  struct Reading {
    std::shared_ptr<WalkedDirectory> directory;
    LookList looks;
    std::size_t waited_before = 0;  // bytes in the queue
  };

  /// Where too much waits, a directory is read on only when what it brought has been done: the walk goes into the
  /// depth.
  [[nodiscard]] bool reads_on() const {
    return !readings_.empty() &&
           (queue_.bytes() < limits_.waiting_bytes || queue_.bytes() <= readings_.back().waited_before);
  }

  std::size_t read_on() {
    const WalkedDirectory& directory = *readings_.back().directory;
    const auto more = reader_.read(directory.descriptor());
    if (!more) note(more.error(), "read", directory.path());
    if (!more || !*more) return end_reading();
    for (const NamedEntry& entry : reader_.entries()) meet(entry);
    return reader_.entries().size();
  }

  std::size_t end_reading() {
    flush(readings_.back());
    if (held_ > limits_.held) readings_.back().directory->let_go();
    readings_.pop_back();
    return 1;
  }

  void meet(const NamedEntry& entry) {
    Reading& reading = readings_.back();
    ++counts_.scanned;
    bool meant = criteria_.accepts_name(entry.name);
    if (meant && !criteria_.asks_status()) {
      find(*reading.directory, entry.name.view());
      meant = false;
    }
    if (entry.kind == EntryKind::directory)
      queue_.push({WalkItem::Kind::descend, reading.directory, std::string(entry.name.view())});
    const bool unknown = entry.kind == EntryKind::unknown;
    if (!meant && !unknown) return;
    reading.looks.add({entry.name, meant, unknown});
    if (reading.looks.size() == looks_an_item) flush(reading);
  }

  void flush(Reading& reading) {
    if (reading.looks.size() > 0) queue_.push({WalkItem::Kind::look, reading.directory, reading.looks.take_names()});
  }

  std::size_t descend(const WalkItem& item) {
    auto opened = open(*item.directory, item.names);
    std::string path = item.directory->path_of(item.names);
    if (opened)
      start_reading(std::make_shared<WalkedDirectory>(std::move(path), held_), std::move(*opened));
    else
      note(opened.error(), "open", path);
    return names_an_open;
  }

  std::size_t look(const WalkItem& item) {
    WalkedDirectory& directory = *item.directory;
    Descriptor passing;
    const auto descriptor = reach(directory, passing);
    std::size_t looked = 0;
    for (std::string_view names = item.names; !names.empty(); ++looked) {
      const LookList::Look next = LookList::next(names);
      if (descriptor)
        look_at(item.directory, *descriptor, next);
      else
        note(descriptor.error(), "stat", directory.path_of(next.name.view()));
    }
    return looked * names_a_look;
  }

  void look_at(const std::shared_ptr<WalkedDirectory>& directory, int descriptor, const LookList::Look& look) {
    const auto status = status_of(descriptor, look.name.c_str(), 0, status_mask_);
    if (!status) {
      note(status.error(), "stat", directory->path_of(look.name.view()));
      return;
    }
    if (look.may_be_directory && S_ISDIR(status->stx_mode))
      queue_.push({WalkItem::Kind::descend, directory, std::string(look.name.view())});
    if (look.may_be_meant && criteria_.accepts_status(modified(*status), status->stx_size))
      find(*directory, look.name.view());
  }

  /// A descriptor to look at names below; held, or in `passing` where enough are held.
  [[nodiscard]] OrErrno<int> reach(WalkedDirectory& directory, Descriptor& passing) const {
    if (directory.is_held()) return directory.descriptor();
    if (directory.path().empty()) return root_.get();
    auto opened = open_directory(root_.get(), directory.path(), O_PATH);
    if (!opened) return std::unexpected(opened.error());
    passing = std::move(*opened);
    if (held_ >= limits_.held) return passing.get();
    directory.hold(std::move(passing));
    return directory.descriptor();
  }

  [[nodiscard]] OrErrno<Descriptor> open(const WalkedDirectory& parent, const std::string& name) const {
    if (parent.is_held()) return open_directory(parent.descriptor(), name, O_RDONLY);
    return open_directory(root_.get(), parent.path_of(name), O_RDONLY);
  }

  void start_reading(std::shared_ptr<WalkedDirectory> directory, Descriptor descriptor) {
    directory->hold(std::move(descriptor));
    readings_.push_back({std::move(directory), {}, queue_.bytes()});
  }

  void look_at_root(const WalkedDirectory& root) {
    const auto status = status_of(root_.get(), "", AT_EMPTY_PATH, status_mask_);
    if (!status)
      note(status.error(), "stat", "");
    else if (criteria_.accepts_status(modified(*status), status->stx_size))
      find(root, "");
  }

  void find(const WalkedDirectory& directory, std::string_view name) {
    ++counts_.found;
    if (on_found_) on_found_(name.empty() ? directory.path() : directory.path_of(name));
  }

  void note(int errno_value, const char* operation, const std::string& path_beneath) {
    ++counts_.errors;
    if (first_error_) return;
    first_error_ = errno_error(errno_value, operation, path_beneath.empty() ? path_ : path_ + "/" + path_beneath);
  }

  Descriptor root_;
  std::string path_;
  FindCriteria criteria_;
  OnFound on_found_;
  WalkLimits limits_;
  unsigned status_mask_;
  std::size_t held_ = 0;  // descriptors of directories; outlives them
  DirectoryReader reader_;
  std::vector<Reading> readings_;
  WalkQueue queue_;
  bool abandoned_ = false;
  Counts counts_;
  std::optional<Error> first_error_;
};

}  // namespace ullage
