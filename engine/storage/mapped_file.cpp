// SPDX-License-Identifier: Apache-2.0
#include "storage/mapped_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/resources.hpp"
#include "mpi/agreement.hpp"

namespace ullage {

MappedFile::MappedFile(MappedFileParts parts) : parts_(std::move(parts)) {}

Status MappedFile::begin() {
  struct stat facts{};
  if (fstat(parts_.file.get(), &facts) != 0) return fail(errno_error(errno, "inspect", path()));
  size_bytes_ = static_cast<std::uint64_t>(facts.st_size);
  const std::uint64_t wanted = writes() ? std::max(size_bytes_, parts_.request.expected_bytes) : size_bytes_;
  return wanted == 0 ? Status{} : reach(wanted);
}

Status MappedFile::transfer(Direction direction, std::span<const Extent> extents, Meter& meter) {
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

Status MappedFile::close() {
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

/// Makes the file `bytes` long, where it is shorter, and maps it.
Status MappedFile::reach(std::uint64_t bytes) {
  if (bytes > size_bytes_) {
    // Beyond what all ranks have agreed on, one would cut what another has made.
    if (parts_.request.shared && bytes > parts_.request.expected_bytes)
      return fail(unsupported("a shared file beyond its expected size", parts_.backend));
    if (auto status = extend(bytes); !status) return status;
    size_bytes_ = bytes;
  }
  mapping_ = {};
  auto mapping = map(parts_.file, bytes, writes());
  if (!mapping) return fail(mapping.error());
  mapping_ = std::move(*mapping);
  return {};
}

Status MappedFile::extend(std::uint64_t bytes) const {
  if (!parts_.preallocate) {
    if (ftruncate(parts_.file.get(), static_cast<off_t>(bytes)) == 0) return {};
    return fail(errno_error(errno, "extend", path()));
  }
  int code = 0;
  do code = posix_fallocate(parts_.file.get(), 0, static_cast<off_t>(bytes));
  while (code == EINTR);
  return code == 0 ? Status{} : fail(errno_error(code, "allocate", path()));
}

Status MappedFile::prepare(Direction direction, std::span<const Extent> extents) {
  run_ = run_of(extents);
  if (run_.end_bytes <= mapping_.size_bytes()) [[likely]]
    return {};
  if (writes()) return reach(run_.end_bytes);
  return fail(parts_.file.nothing_moved(direction, size_bytes_));
}

/// The kernel does not say why there was no page: the file was cut, its file system is full, or its device failed.
Error MappedFile::lost_page(Direction direction, const Extent& extent) const {
  struct stat facts{};
  const bool is_cut = fstat(parts_.file.get(), &facts) == 0 &&
                      static_cast<std::uint64_t>(facts.st_size) < extent.offset_bytes + extent.length_bytes;
  Error error =
      parts_.file.failed(direction, is_cut || direction == Direction::read ? EIO : ENOSPC, extent.offset_bytes);
  error.text = is_cut ? "SIGBUS at a mapped page: the file was truncated"
                      : "SIGBUS at a mapped page: no room for it, or its device failed";
  return error;
}

MappedBackend::MappedBackend(Capabilities capabilities, const BackendContext& context, std::string name,
                             bool preallocate)
    : KernelFileBackend(capabilities, {}, context, 1, O_RDWR),
      world_(*context.world),
      name_(std::move(name)),
      preallocate_(preallocate) {}

Result<std::unique_ptr<File>> MappedBackend::open(const OpenRequest& request) {
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

}  // namespace ullage
