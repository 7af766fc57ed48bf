// SPDX-License-Identifier: Apache-2.0
// An open file that is moved by copies from and to a mapping of it: all but who maps it and how bytes are stored.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

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
  [[nodiscard]] Status begin();

  [[nodiscard]] Status transfer(Direction direction, std::span<const Extent> extents, Meter& meter) final;
  [[nodiscard]] Status close() final;

 protected:
  explicit MappedFile(MappedFileParts parts);

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
  [[nodiscard]] Status reach(std::uint64_t bytes);
  [[nodiscard]] Status extend(std::uint64_t bytes) const;
  [[nodiscard]] Status prepare(Direction direction, std::span<const Extent> extents);
  [[nodiscard]] Error lost_page(Direction direction, const Extent& extent) const;

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
  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) final;

 protected:
  MappedBackend(Capabilities capabilities, const BackendContext& context, std::string name, bool preallocate);

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
