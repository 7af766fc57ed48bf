// SPDX-License-Identifier: Apache-2.0
// Backend `mmap`: memcpy(3) from and to a shared mapping of the file.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "mpi/agreement.hpp"
#include "storage/backend.hpp"
#include "storage/bus_errors.hpp"
#include "storage/file_mapping.hpp"
#include "storage/kernel_file.hpp"
#include "storage/moving_threads.hpp"

namespace ullage {
namespace {

struct MmapParameters : MappingParameters {
  bool preallocate = false;
};

Table<MmapParameters> mmap_table() {
  Table<MmapParameters> table = mapping_table<MmapParameters>();
  table.push_back(flag("preallocate", &MmapParameters::preallocate,
                       "Allocate the whole size of a new file when it is made (fallocate)."));
  return table;
}

template <Direction direction>
void copy(std::byte* mapped, const Extent& extent) noexcept {
  if constexpr (direction == Direction::write)
    std::memcpy(mapped + extent.offset_bytes, extent.data, extent.length_bytes);
  else
    std::memcpy(extent.data, mapped + extent.offset_bytes, extent.length_bytes);
}

/// A new file is as long as it will be from its first mapping on, since nothing beyond its end can be mapped. One that
/// only this rank has is cut at its close to what was written.
class MmapFile final : public File {
 public:
  MmapFile(KernelFile file, std::string path, const OpenRequest& request, const MmapParameters& parameters,
           MovingThreads* threads)
      : file_(std::move(file)), path_(std::move(path)), request_(request), parameters_(parameters), threads_(threads) {}

  /// Maps what there is, or will be by `expected_bytes`. Once, before any transfer.
  [[nodiscard]] Status begin() {
    struct stat facts{};
    if (fstat(file_.get(), &facts) != 0) return fail(errno_error(errno, "inspect", path_));
    size_bytes_ = static_cast<std::uint64_t>(facts.st_size);
    const std::uint64_t wanted = writes() ? std::max(size_bytes_, request_.expected_bytes) : size_bytes_;
    return wanted == 0 ? Status{} : reach(wanted);
  }

  [[nodiscard]] Status transfer(Direction direction, std::span<const Extent> extents, Meter& meter) override {
    if (auto status = prepare(direction, extents); !status) return status;
    if (direction == Direction::read) return move_all<Direction::read>(extents, meter);
    const std::uint64_t before = meter.operations();
    Status status = move_all<Direction::write>(extents, meter);
    // Extents are begun in their order.
    for (const Extent& extent : extents.first(static_cast<std::size_t>(meter.operations() - before)))
      written_bytes_ = std::max(written_bytes_, extent.offset_bytes + extent.length_bytes);
    return status;
  }

  [[nodiscard]] Status sync() override {
    if (mapping_.data() == nullptr) return file_.sync();
    if (msync(mapping_.data(), mapping_.size_bytes(), MS_SYNC) == 0) return {};
    return fail(errno_error(errno, "sync", path_));
  }

  [[nodiscard]] Status close() override {
    mapping_ = {};
    Status status;
    const bool is_too_long = request_.mode == OpenMode::create && !request_.shared && written_bytes_ < size_bytes_;
    if (is_too_long && ftruncate(file_.get(), static_cast<off_t>(written_bytes_)) != 0)
      status = fail(errno_error(errno, "truncate", path_));
    size_bytes_ = written_bytes_;  // a second close() does nothing
    const Status closed = file_.close();
    return status ? closed : status;
  }

  [[nodiscard]] Map hints_granted() const override { return {{"map", mapping_.is_sync() ? "MAP_SYNC" : "MAP_SHARED"}}; }

 private:
  [[nodiscard]] bool writes() const noexcept { return request_.mode != OpenMode::read; }

  /// Makes the file `bytes` long, where it is shorter, and maps it.
  [[nodiscard]] Status reach(std::uint64_t bytes) {
    if (bytes > size_bytes_) {
      // Beyond what all ranks have agreed on, one would cut what another has made.
      if (request_.shared && bytes > request_.expected_bytes)
        return fail(unsupported("a shared file beyond its expected size", "mmap"));
      if (parameters_.preallocate)
        if (auto status = allocate(bytes); !status) return status;
      if (!parameters_.preallocate && ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0)
        return fail(errno_error(errno, "extend", path_));
      size_bytes_ = bytes;
    }
    mapping_ = {};
    auto mapping = FileMapping::map(file_.get(), bytes, writes(), parameters_, path_);
    if (!mapping) return fail(mapping.error());
    mapping_ = std::move(*mapping);
    return {};
  }

  [[nodiscard]] Status allocate(std::uint64_t bytes) const {
    int code = 0;
    do code = posix_fallocate(file_.get(), 0, static_cast<off_t>(bytes));
    while (code == EINTR);
    return code == 0 ? Status{} : fail(errno_error(code, "allocate", path_));
  }

  [[nodiscard]] Status prepare(Direction direction, std::span<const Extent> extents) {
    std::uint64_t end = 0;
    for (const Extent& extent : extents) end = std::max(end, extent.offset_bytes + extent.length_bytes);
    if (end <= mapping_.size_bytes()) [[likely]]
      return {};
    if (writes()) return reach(end);
    return fail(file_.nothing_moved(direction, size_bytes_));
  }

  template <Direction direction>
  [[nodiscard]] Status move_all(std::span<const Extent> extents, Meter& meter) {
    if (threads_ != nullptr)
      return threads_->run(extents, meter, [this](std::size_t, const Extent& extent) -> Status {
        if (survives_bus_error([&] { copy<direction>(mapping_.data(), extent); })) return {};
        return fail(lost_page(direction, extent));
      });
    std::byte* const mapped = mapping_.data();
    at_ = 0;
    const bool is_whole = survives_bus_error([&] {
      for (const Extent& extent : extents) {
        copy<direction>(mapped, extent);
        if (!meter.completed(extent.length_bytes)) break;
        at_ = at_ + 1;
      }
    });
    return is_whole ? Status{} : fail(lost_page(direction, extents[at_]));
  }

  /// The kernel does not say why there was no page: the file was cut, its file system is full, or its device failed.
  [[nodiscard]] Error lost_page(Direction direction, const Extent& extent) const {
    struct stat facts{};
    const bool is_cut = fstat(file_.get(), &facts) == 0 &&
                        static_cast<std::uint64_t>(facts.st_size) < extent.offset_bytes + extent.length_bytes;
    Error error = file_.failed(direction, is_cut || direction == Direction::read ? EIO : ENOSPC, extent.offset_bytes);
    error.text = is_cut ? "SIGBUS at a mapped page: the file was truncated"
                        : "SIGBUS at a mapped page: no room for it, or its device failed";
    return error;
  }

  KernelFile file_;
  std::string path_;
  OpenRequest request_;
  MmapParameters parameters_;
  MovingThreads* threads_;
  FileMapping mapping_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t written_bytes_ = 0;
  volatile std::size_t at_ = 0;  // what is under way is known after a jump out of it
};

constexpr Capabilities mmap_capabilities{.metadata = true, .threads = 1024};

class MmapBackend final : public KernelFileBackend, public ConcurrencyFacet {
 public:
  MmapBackend(const MmapParameters& parameters, const BackendContext& context)
      : KernelFileBackend(mmap_capabilities, {}, context, 1, O_RDWR), world_(*context.world), parameters_(parameters) {}

  [[nodiscard]] ConcurrencyFacet* concurrency() override { return this; }
  [[nodiscard]] Status make_ready(std::span<std::byte> /*memory*/, const Concurrency& wanted) override {
    const auto threads = static_cast<std::size_t>(wanted.threads);
    if (threads == 1) {
      threads_.reset();
      return {};
    }
    if (!threads_ || threads_->size() != threads) threads_ = std::make_unique<MovingThreads>(threads);
    threads_->share_memory(wanted.window);
    return {};
  }

  /// Ranks of a shared file are together here until all of them have it or none.
  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) override {
    auto file = open_file(request);
    if (!file) return fail(file.error());
    auto mapped = std::make_unique<MmapFile>(std::move(*file), folder().path() + "/" + request.name, request,
                                             parameters_, threads_.get());
    Status status = mapped->begin();
    if (request.shared) status = mpi::share_status(world_.all(), std::move(status));
    if (!status) return fail(status.error());
    return mapped;
  }

 private:
  const mpi::World& world_;
  MmapParameters parameters_;
  BusErrorHandler handler_;
  std::unique_ptr<MovingThreads> threads_;  // where there is more than the rank itself
};

Result<std::unique_ptr<Backend>> make_mmap(const Values& values, const BackendContext& context) {
  const auto found = alignment_for({}, context, "mmap");
  if (!found) return fail(found.error());
  return std::make_unique<MmapBackend>(bind_parameters(mmap_table(), values), context);
}

const Registered<BackendEntry> registered_mmap{{
    .description = {.name = "mmap",
                    .doc = "Copies from and to a shared mapping of the file, through the page cache or, on persistent "
                           "memory, past it.",
                    .parameters = specs_of(mmap_table())},
    .capabilities = mmap_capabilities,
    .make = make_mmap,
}};

}  // namespace
}  // namespace ullage
