// SPDX-License-Identifier: Apache-2.0
// Work on names by openat(2) and its kin: one component below a directory that is open, so that no path is walked and
// no link followed.
#include "storage/posix_metadata.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <map>
#include <utility>

#include "base/clock.hpp"

namespace ullage {
namespace {

constexpr unsigned file_mode = 0600;
constexpr unsigned other_file_mode = 0640;  // what chmod sets; the run folder around it is closed to others
constexpr unsigned directory_mode = 0700;
constexpr std::size_t list_bytes = std::size_t{256} << 10;

/// 0, or the errno of the call that failed.
using Errno = int;

Errno errno_if(bool failed) noexcept { return failed ? errno : 0; }

/// Length moved when it is all of it; otherwise an errno.
template <class Call>
Errno move_all(std::size_t bytes, const Call& call) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t moved = call(done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return moved < 0 ? errno : EIO;
    done += static_cast<std::size_t>(moved);
  }
  return 0;
}

/// An operation of several calls, each of which is a part that the meter has a histogram for. The last one ends with
/// the operation itself, so that it costs no clock read of its own. Where operations are so short that the others'
/// clock reads would show, one in 32 is looked into, at random, others on each rank and in each repetition: every 32nd
/// would be the first in its directory for ever where a directory takes a multiple of that.
class Parts final {
 public:
  explicit Parts(Meter& meter) noexcept : meter_(meter), begun_ns_(meter.last_ns()), timed_(looks_into_next(meter)) {}
  void done(std::size_t part) noexcept {
    if (!timed_) return;
    const std::int64_t now = meter_.clock_ns();
    meter_.add_part(part, now - begun_ns_);
    begun_ns_ = now;
  }
  [[nodiscard]] bool completed(std::size_t last_part, std::uint64_t bytes) {
    const bool goes_on = meter_.completed(bytes);
    if (timed_) meter_.add_part(last_part, meter_.last_ns() - begun_ns_);
    return goes_on;
  }

 private:
  static bool looks_into_next(Meter& meter) noexcept {
    constexpr std::uint64_t short_ns = 10'000;
    const std::uint64_t operations = meter.operations();
    return meter.samples_next() || meter.histogram().sum_ns() >= short_ns * operations;
  }

  Meter& meter_;
  std::int64_t begun_ns_;
  bool timed_;
};

struct Outcome {
  Errno error = 0;
  bool goes_on = true;
};

/// Closes `file`, whatever came before; the first error counts.
Errno close_after(Errno error, int file) {
  const Errno own = errno_if(::close(file) != 0);
  return error == 0 ? own : error;
}

Outcome simple(bool failed, Meter& meter) {
  if (failed) return {errno, false};
  return {0, meter.completed(0)};
}

Outcome create(const MetadataItem& item, bool sync, Meter& meter) {
  Parts parts(meter);
  const int file = openat(item.directory, item.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file_mode);
  if (file < 0) return {errno, false};
  parts.done(0);
  Errno error = move_all(item.bytes, [&](std::size_t done) {
    return ::pwrite(file, item.data + done, item.bytes - done, static_cast<off_t>(done));
  });
  if (error == 0 && sync) error = errno_if(fsync(file) != 0);
  if (item.bytes > 0 || sync) parts.done(1);
  error = close_after(error, file);
  if (error != 0) return {error, false};
  if (sync) meter.count_sync();
  return {0, parts.completed(2, item.bytes)};
}

Outcome read(const MetadataItem& item, Meter& meter) {
  Parts parts(meter);
  const int file = openat(item.directory, item.name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return {errno, false};
  parts.done(0);
  const Errno moved = move_all(item.bytes, [&](std::size_t done) {
    return ::pread(file, item.data + done, item.bytes - done, static_cast<off_t>(done));
  });
  parts.done(1);
  if (const Errno error = close_after(moved, file); error != 0) return {error, false};
  return {0, parts.completed(2, item.bytes)};
}

Outcome truncate(const MetadataItem& item, Meter& meter) {
  Parts parts(meter);
  const int file = openat(item.directory, item.name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return {errno, false};
  parts.done(0);
  const Errno cut = errno_if(ftruncate(file, 0) != 0);
  parts.done(1);
  if (const Errno error = close_after(cut, file); error != 0) return {error, false};
  return {0, parts.completed(2, 0)};
}

Outcome open_close(const MetadataItem& item, Meter& meter) {
  Parts parts(meter);
  const int file = openat(item.directory, item.name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return {errno, false};
  parts.done(0);
  if (::close(file) != 0) return {errno, false};
  return {0, parts.completed(1, 0)};
}

Outcome list(const MetadataItem& item, std::span<std::byte> buffer, Meter& meter) {
  const int directory = openat(item.directory, item.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) return {errno, false};
  long got = 0;
  do got = syscall(SYS_getdents64, directory, buffer.data(), buffer.size());
  while (got > 0);
  const Errno error = errno_if(got < 0);
  ::close(directory);
  if (error != 0) return {error, false};
  return {0, meter.completed(0)};
}

class PosixMetadata final : public MetadataApi {
 public:
  explicit PosixMetadata(const RunFolder& folder) : folder_(folder) {}

  [[nodiscard]] Result<int> enter(const std::string& directory) override {
    auto opened = folder_.open_file(directory, O_RDONLY | O_DIRECTORY);
    if (!opened) return fail(opened.error());
    const int handle = opened->get();
    entered_.insert_or_assign(handle, Entered{std::move(*opened), directory});
    return handle;
  }
  void leave(int directory) override { entered_.erase(directory); }

  [[nodiscard]] Status perform(MetadataOperation operation, std::span<const MetadataItem> items, bool sync,
                               Meter& meter) override {
    if (operation == MetadataOperation::readdir) buffer_.resize(list_bytes);
    Undone undone;
    // What to do is chosen once: an operation is a few hundred ns, in which nothing else should happen.
    with_operation(operation, sync, meter, [&](const auto& one) { undone = do_until_told_otherwise(items, one); });
    if (undone.error == 0) return {};
    return fail(error(operation, *undone.item, undone.error));
  }

  [[nodiscard]] Status sync_directory(int directory) override {
    return synced(sync_descriptor(directory), "sync", directory);
  }
  [[nodiscard]] Status sync_file_system(int directory) override {
    OrErrno<void> done;
    if (syncfs(directory) != 0) done = std::unexpected(errno);
    return synced(done, "syncfs", directory);
  }

 private:
  struct Entered {
    Descriptor descriptor;
    std::string name;
  };

  struct Undone {
    Errno error = 0;
    const MetadataItem* item = nullptr;  // that failed, if any
  };

  template <class One>
  static Undone do_until_told_otherwise(std::span<const MetadataItem> items, const One& one) {
    for (const MetadataItem& item : items) {
      const Outcome outcome = one(item);
      if (outcome.error != 0) [[unlikely]]
        return {outcome.error, &item};
      if (!outcome.goes_on) break;
    }
    return {};
  }

  /// Calls `use` with a function of one item.
  template <class Use>
  void with_operation(MetadataOperation operation, bool sync, Meter& meter, const Use& use) {
    using Item = const MetadataItem&;
    const auto call = [&](const auto& made) { use([&](Item item) { return simple(made(item) != 0, meter); }); };
    switch (operation) {
      case MetadataOperation::mkdir:
        return call([](Item item) { return mkdirat(item.directory, item.name, directory_mode); });
      case MetadataOperation::create:
        return use([&](Item item) { return create(item, sync, meter); });
      case MetadataOperation::stat:
        return call([](Item item) {
          struct stat status;
          return fstatat(item.directory, item.name, &status, AT_SYMLINK_NOFOLLOW);
        });
      case MetadataOperation::read:
        return use([&](Item item) { return read(item, meter); });
      case MetadataOperation::rename:
        return call([](Item item) { return renameat(item.directory, item.name, item.directory, item.new_name); });
      case MetadataOperation::readdir:
        return use([&](Item item) { return list(item, buffer_, meter); });
      case MetadataOperation::chmod:
        return call([](Item item) { return fchmodat(item.directory, item.name, other_file_mode, 0); });
      case MetadataOperation::truncate:
        return use([&](Item item) { return truncate(item, meter); });
      case MetadataOperation::open:
        return use([&](Item item) { return open_close(item, meter); });
      case MetadataOperation::unlink:
        return call([](Item item) { return unlinkat(item.directory, item.name, 0); });
      case MetadataOperation::rmdir:
        return call([](Item item) { return unlinkat(item.directory, item.name, AT_REMOVEDIR); });
    }
  }

  [[nodiscard]] std::string path_of(int directory) const {
    const auto found = entered_.find(directory);
    return folder_.path() + "/" + (found == entered_.end() ? "" : found->second.name);
  }
  [[nodiscard]] Error error(MetadataOperation operation, const MetadataItem& item, Errno code) const {
    Error made = errno_error(code, word(operation), path_of(item.directory) + "/" + item.name);
    if (operation == MetadataOperation::read && code == EIO) made.text = "shorter than it was written, or unreadable";
    return made;
  }
  [[nodiscard]] Status synced(const OrErrno<void>& done, const char* operation, int directory) const {
    return done ? Status{} : fail(errno_error(done.error(), operation, path_of(directory)));
  }

  const RunFolder& folder_;
  std::map<int, Entered> entered_;
  std::vector<std::byte> buffer_;
};

}  // namespace

std::unique_ptr<MetadataApi> make_posix_metadata(const RunFolder& folder) {
  return std::make_unique<PosixMetadata>(folder);
}

}  // namespace ullage
