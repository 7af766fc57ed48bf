// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/find/walk.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/resources.hpp"

namespace ullage {
namespace {

constexpr std::size_t looks_an_item = 256;  // a fraction of a millisecond where inodes are cached
constexpr std::size_t names_a_look = 4;     // that can be read in the time of one look
constexpr std::size_t names_an_open = 16;

OrErrno<struct statx> status_of(int directory, const char* name, int flags, unsigned mask) {
  struct statx status{};
  if (statx(directory, name, flags | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, mask, &status) != 0)
    return std::unexpected(errno);
  return status;
}

FileTime modified(const struct statx& status) { return {status.stx_mtime.tv_sec, status.stx_mtime.tv_nsec}; }

}  // namespace

FindWalk::FindWalk(Descriptor root, std::string path, FindCriteria criteria, OnFound on_found, WalkLimits limits)
    : root_(std::move(root)),
      path_(std::move(path)),
      criteria_(std::move(criteria)),
      on_found_(std::move(on_found)),
      limits_(limits),
      status_mask_(STATX_TYPE | (criteria_.newer_than ? STATX_MTIME : 0U) | (criteria_.size ? STATX_SIZE : 0U)),
      reader_(limits.room_bytes) {}

void FindWalk::begin() {
  ++counts_.scanned;
  const auto root = std::make_shared<WalkedDirectory>("", held_);
  if (criteria_.accepts_name(split_name(path_).base)) look_at_root(*root);
  Descriptor again(openat(root_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (again)
    start_reading(root, std::move(again));
  else
    note(errno, "open", "");
}

void FindWalk::look_at_root(const WalkedDirectory& root) {
  const auto status = status_of(root_.get(), "", AT_EMPTY_PATH, status_mask_);
  if (!status)
    note(status.error(), "stat", "");
  else if (criteria_.accepts_status(modified(*status), status->stx_size))
    find(root, "");
}

void FindWalk::start_reading(std::shared_ptr<WalkedDirectory> directory, Descriptor descriptor) {
  directory->hold(std::move(descriptor));
  readings_.push_back({std::move(directory), {}, queue_.bytes()});
}

/// Where too much waits, a directory is read on only when what it brought has been done: the walk goes into the depth.
bool FindWalk::reads_on() const {
  return !readings_.empty() &&
         (queue_.bytes() < limits_.waiting_bytes || queue_.bytes() <= readings_.back().waited_before);
}

std::size_t FindWalk::step() {
  if (reads_on()) return read_on();
  const WalkItem item = queue_.pop();
  return item.kind == WalkItem::Kind::descend ? descend(item) : look(item);
}

std::size_t FindWalk::read_on() {
  const WalkedDirectory& directory = *readings_.back().directory;
  const auto more = reader_.read(directory.descriptor());
  if (!more) note(more.error(), "read", directory.path());
  if (!more || !*more) return end_reading();
  for (const NamedEntry& entry : reader_.entries()) meet(entry);
  return reader_.entries().size();
}

std::size_t FindWalk::end_reading() {
  flush(readings_.back());
  if (held_ > limits_.held) readings_.back().directory->let_go();
  readings_.pop_back();
  return 1;
}

void FindWalk::meet(const NamedEntry& entry) {
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

void FindWalk::flush(Reading& reading) {
  if (reading.looks.size() > 0) queue_.push({WalkItem::Kind::look, reading.directory, reading.looks.take_names()});
}

OrErrno<Descriptor> FindWalk::open(const WalkedDirectory& parent, const std::string& name) const {
  if (parent.is_held()) return open_directory(parent.descriptor(), name, O_RDONLY);
  return open_directory(root_.get(), parent.path_of(name), O_RDONLY);
}

std::size_t FindWalk::descend(const WalkItem& item) {
  auto opened = open(*item.directory, item.names);
  std::string path = item.directory->path_of(item.names);
  if (opened)
    start_reading(std::make_shared<WalkedDirectory>(std::move(path), held_), std::move(*opened));
  else
    note(opened.error(), "open", path);
  return names_an_open;
}

std::size_t FindWalk::look(const WalkItem& item) {
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

/// A descriptor to look at names below; held, or in `passing` where enough are held.
OrErrno<int> FindWalk::reach(WalkedDirectory& directory, Descriptor& passing) const {
  if (directory.is_held()) return directory.descriptor();
  if (directory.path().empty()) return root_.get();
  auto opened = open_directory(root_.get(), directory.path(), O_PATH);
  if (!opened) return std::unexpected(opened.error());
  passing = std::move(*opened);
  if (held_ >= limits_.held) return passing.get();
  directory.hold(std::move(passing));
  return directory.descriptor();
}

void FindWalk::look_at(const std::shared_ptr<WalkedDirectory>& directory, int descriptor, const LookList::Look& look) {
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

void FindWalk::find(const WalkedDirectory& directory, std::string_view name) {
  ++counts_.found;
  if (on_found_) on_found_(name.empty() ? directory.path() : directory.path_of(name));
}

void FindWalk::note(int errno_value, const char* operation, const std::string& path_beneath) {
  ++counts_.errors;
  if (first_error_) return;
  first_error_ = errno_error(errno_value, operation, path_beneath.empty() ? path_ : path_ + "/" + path_beneath);
}

void FindWalk::abandon() noexcept {
  abandoned_ = true;
  queue_.clear();
  readings_.clear();
}

void FindWalk::give_up(const Error& error) noexcept {
  abandon();
  ++counts_.errors;
  if (!first_error_) first_error_ = error;
}

std::string FindWalk::give() noexcept {
  auto given = catch_resource_errors([this] -> Result<std::string> { return queue_.give(limits_.given_bytes); });
  if (given) return std::move(*given);
  give_up(given.error());
  return {};
}

void FindWalk::take(const std::string& given) noexcept {
  if (abandoned_) return;
  const Status taken = catch_resource_errors([&] -> Status {
    queue_.take(given, held_);
    return {};
  });
  if (!taken) give_up(taken.error());
}

void FindWalk::lose() noexcept { give_up(errno_error(ENOMEM, "get", "memory")); }

}  // namespace ullage
