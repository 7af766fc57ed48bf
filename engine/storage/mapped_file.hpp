// SPDX-License-Identifier: Apache-2.0
// An open file that is moved by copies from and to a mapping of it: all but who maps it and how bytes are stored.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/resources.hpp"
#include "base/std.hpp"
#include "mpi/agreement.hpp"
#include "storage/backend.hpp"
#include "storage/extent_run.hpp"
#include "storage/file_mapping.hpp"
#include "storage/kernel_file.hpp"
#include "storage/moving_threads.hpp"

namespace ullage {

/// Holds what an open mapped file is made from. `threads`: null where the rank moves its data alone.
struct MappedFileParts {
  KernelFile file;
  std::string path;
  OpenRequest request;
  bool preallocate = false;
  std::string backend;  // its name
  MovingThreads* threads = nullptr;
};

/// A new file is as long as it will be from its first mapping on, since nothing beyond its end can be mapped. One that
/// only this rank has is cut at its close to what was written. Needs a BusErrorHandler.
class MappedFile : public File {
 public:
  /// Maps what there is, or will be by `expected_bytes`. Once, before any transfer.
  [[nodiscard]] Status begin() {
    struct stat facts{};
    if (fstat(parts_.file.get(), &facts) != 0) return fail(errno_error(errno, "inspect", path()));
    size_bytes_ = static_cast<std::uint64_t>(facts.st_size);
    const std::uint64_t wanted = writes() ? std::max(size_bytes_, parts_.request.expected_bytes) : size_bytes_;
    return wanted == 0 ? Status{} : reach(wanted);
  }

  [[nodiscard]] Status transfer(Direction direction, std::span<const Extent> extents, Meter& meter) final {
    if (auto status = prepare(direction, extents); !status) return status;
    if (direction == Direction::read)
      return move_all<Direction::read>(extents, meter, [](const std::byte* mapped, const Extent& extent) {
        std::memcpy(extent.data, mapped, extent.length_bytes);
        return true;
      });
    const std::uint64_t before = meter.operations();
    Status status = write_all(extents, meter);
    // Extents are begun in their order.
    const auto done = extents.first(static_cast<std::size_t>(meter.operations() - before));
    const std::uint64_t end_bytes = done.size() == extents.size() ? run_.end_bytes : run_of(done).end_bytes;
    written_bytes_ = std::max(written_bytes_, end_bytes);
    return status;
  }

  [[nodiscard]] Status close() final {
    mapping_ = {};
    Status status;
    const OpenRequest& request = parts_.request;
    const bool is_too_long = request.mode == OpenMode::create && !request.shared && written_bytes_ < size_bytes_;
    if (is_too_long && ftruncate(parts_.file.get(), static_cast<off_t>(written_bytes_)) != 0)
      status = fail(errno_error(errno, "truncate", path()));
    size_bytes_ = written_bytes_;  // a second close() does nothing
    const Status closed = parts_.file.close();
    return status ? closed : status;
  }

 protected:
  explicit MappedFile(MappedFileParts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] virtual Result<FileMapping> map(const KernelFile& file, std::uint64_t bytes, bool writes) = 0;
  /// move_all() by this file's way of storing.
  [[nodiscard]] virtual Status write_all(std::span<const Extent> extents, Meter& meter) = 0;

  /// `copy(mapped, extent)` for each extent, `mapped` being where it lies in the mapping. False: failed, see errno.
  template <Direction direction, class Copy>
  [[nodiscard]] Status move_all(std::span<const Extent> extents, Meter& meter, const Copy& copy);
  template <class Copy>
  [[nodiscard]] bool copy_each(std::span<const Extent> extents, Meter& meter, Copy copy);
  template <Direction direction, class Copy>
  [[nodiscard]] Status move_by_threads(std::span<const Extent> extents, Meter& meter, const Copy& copy);

  [[nodiscard]] const KernelFile& file() const noexcept { return parts_.file; }
  [[nodiscard]] const std::string& path() const noexcept { return parts_.path; }
  [[nodiscard]] const FileMapping& mapping() const noexcept { return mapping_; }

 private:
  [[nodiscard]] bool writes() const noexcept { return parts_.request.mode != OpenMode::read; }

  /// Makes the file `bytes` long, where it is shorter, and maps it.
  [[nodiscard]] Status reach(std::uint64_t bytes) {
    if (bytes > size_bytes_) {
      // Beyond what all ranks have agreed on, one would cut what another has made.
      if (parts_.request.shared && bytes > parts_.request.expected_bytes)
        return fail(unsupported("a shared file beyond its expected size", parts_.backend));
      if (auto status = extend(bytes); !status) return status;
      size_bytes_ = bytes;
    }
    mapping_ = {};
    return take_into(mapping_, map(parts_.file, bytes, writes()));
  }

  [[nodiscard]] Status extend(std::uint64_t bytes) const {
    if (!parts_.preallocate) {
      if (ftruncate(parts_.file.get(), static_cast<off_t>(bytes)) == 0) return {};
      return fail(errno_error(errno, "extend", path()));
    }
    int code = 0;
    do code = posix_fallocate(parts_.file.get(), 0, static_cast<off_t>(bytes));
    while (code == EINTR);
    return code == 0 ? Status{} : fail(errno_error(code, "allocate", path()));
  }

  [[nodiscard]] Status prepare(Direction direction, std::span<const Extent> extents) {
    run_ = run_of(extents);
    if (run_.end_bytes <= mapping_.size_bytes()) [[likely]]
      return {};
    if (writes()) return reach(run_.end_bytes);
    return fail(parts_.file.nothing_moved(direction, size_bytes_));
  }

  /// The kernel does not say why there was no page: the file was cut, its file system is full, or its device failed.
  [[nodiscard]] Error lost_page(Direction direction, const Extent& extent) const {
    struct stat facts{};
    const bool is_cut = fstat(parts_.file.get(), &facts) == 0 &&
                        static_cast<std::uint64_t>(facts.st_size) < extent.offset_bytes + extent.length_bytes;
    Error error =
        parts_.file.failed(direction, is_cut || direction == Direction::read ? EIO : ENOSPC, extent.offset_bytes);
    error.text = is_cut ? "SIGBUS at a mapped page: the file was truncated"
                        : "SIGBUS at a mapped page: no room for it, or its device failed";
    return error;
  }

  MappedFileParts parts_;
  FileMapping mapping_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t written_bytes_ = 0;
  ExtentRun run_;                // of the extents that are moved
  volatile std::size_t at_ = 0;  // what is under way is known after a jump out of it
};

/// Opens mapped files; backends say how one of theirs is made.
class MappedBackend : public KernelFileBackend {
 public:
  [[nodiscard]] Status make_ready(std::span<std::byte> /*memory*/, const Concurrency& wanted) override {
    return threads_.make_ready(wanted);
  }

  /// Ranks of a shared file are together here until all of them have it or none.
  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) final {
    auto file = open_file(request);
    if (!file) return fail(file.error());
    std::unique_ptr<MappedFile> mapped;
    Status status = catch_resource_errors([&] {
      mapped = make_file({.file = std::move(*file),
                          .path = folder().path() + "/" + request.name,
                          .request = request,
                          .preallocate = preallocate_,
                          .backend = name_,
                          .threads = threads_.threads()});
      return mapped->begin();
    });
    if (request.shared) status = mpi::share_status(world_.all(), std::move(status));
    if (!status) return fail(status.error());
    return mapped;
  }

 protected:
  MappedBackend(Capabilities capabilities, const BackendContext& context, std::string name, bool preallocate)
      : KernelFileBackend(capabilities, {}, context, 1, O_RDWR),
        world_(*context.world),
        name_(std::move(name)),
        preallocate_(preallocate) {}

 private:
  [[nodiscard]] virtual std::unique_ptr<MappedFile> make_file(MappedFileParts parts) = 0;

  const mpi::World& world_;
  std::string name_;
  bool preallocate_;
  BusErrorHandler handler_;
  FileThreads threads_;
};

template <Direction direction, class Copy>
Status MappedFile::move_by_threads(std::span<const Extent> extents, Meter& meter, const Copy& copy) {
  return parts_.threads->run(extents, meter, [&](std::size_t, const Extent& extent) -> Status {
    volatile int code = 0;
    if (!survives_bus_error([&] { code = copy(mapping_.data() + extent.offset_bytes, extent) ? 0 : errno; }))
      return fail(lost_page(direction, extent));
    return code == 0 ? Status{} : fail(parts_.file.failed(direction, code, extent.offset_bytes));
  });
}

/// Stands by itself, so that the loop has its numbers in registers, which it has not in a function that calls
/// sigsetjmp().
template <class Copy>
[[gnu::noinline]] bool MappedFile::copy_each(std::span<const Extent> extents, Meter& meter, Copy copy) {
  std::byte* const mapped = mapping_.data();
  volatile std::size_t* const at = &at_;
  return with_extents(extents, run_, [&](const auto& extent_at) {
    return meter.each(extents.size(), [=](std::size_t i) -> std::uint64_t {
      *at = i;
      const Extent extent = extent_at(i);
      return copy(mapped + extent.offset_bytes, extent) ? extent.length_bytes : 0;
    });
  });
}

template <Direction direction, class Copy>
Status MappedFile::move_all(std::span<const Extent> extents, Meter& meter, const Copy& copy) {
  if (parts_.threads != nullptr) return move_by_threads<direction>(extents, meter, copy);
  const std::uint64_t before = meter.operations();
  at_ = 0;
  volatile int code = 0;
  const bool is_whole = survives_bus_error([&] {
    if (!copy_each(extents, meter, copy)) code = errno;
  });
  if (code != 0) return fail(parts_.file.failed(direction, code, extents[at_].offset_bytes));
  if (is_whole) return {};
  // Those of a group that was broken off have been done, too.
  const std::size_t stamped = static_cast<std::size_t>(meter.operations() - before);
  std::uint64_t bytes = 0;
  for (std::size_t i = stamped; i < at_; ++i) bytes += extents[i].length_bytes;
  if (stamped < at_) (void)meter.completed_group(at_ - stamped, bytes);
  return fail(lost_page(direction, extents[at_]));
}

}  // namespace ullage
