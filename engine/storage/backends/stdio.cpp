// SPDX-License-Identifier: Apache-2.0
// Backend `stdio`: fwrite(3) and fread(3), through the C library's buffer and the page cache.
#include <fcntl.h>

#include <cerrno>
#include <cstdio>

#include "base/aligned_buffer.hpp"
#include "base/std.hpp"
#include "storage/backend.hpp"
#include "storage/kernel_file.hpp"

namespace ullage {
namespace {

constexpr std::size_t buffer_alignment = 4096;

struct StdioParameters {
  std::uint64_t buffer_bytes = 0;
};

Table<StdioParameters> stdio_table() {
  return {bytes("buffer_bytes", &StdioParameters::buffer_bytes, {0, 1 << 30},
                "Set the bytes of each file's buffer (setvbuf); 0 means the library's default, one block of the file "
                "system.")};
}

struct CloseStream {
  void operator()(std::FILE* stream) const { (void)std::fclose(stream); }
};
using Stream = std::unique_ptr<std::FILE, CloseStream>;
using Buffers = std::vector<AlignedBuffer>;

/// A stream on a descriptor of its own beside the file's, which the library closes.
class StdioFile final : public File {
 public:
  /// `buffer` is back among `spare` when the file is gone.
  StdioFile(KernelFile file, AlignedBuffer buffer, Stream stream, Buffers& spare)
      : file_(std::move(file)), buffer_(std::move(buffer)), stream_(std::move(stream)), spare_(spare) {}
  ~StdioFile() override {
    stream_.reset();
    if (buffer_.size() > 0) spare_.push_back(std::move(buffer_));
  }

  [[nodiscard]] Status transfer(Direction direction, std::span<const Extent> extents, Meter& meter) override {
    for (const Extent& extent : extents) {
      if (auto status = move(direction, extent); !status) return status;
      if (!meter.completed(extent.length_bytes)) break;
    }
    return {};
  }
  /// What the library holds goes to the kernel first.
  [[nodiscard]] Status sync() override {
    if (auto status = flush(); !status) return status;
    return file_.sync();
  }
  [[nodiscard]] Status close() override {
    if (!stream_) return {};
    Status status = flush();
    const int closed = std::fclose(stream_.release());
    if (status && closed != 0) status = fail(file_.failed(Direction::write, errno, at_));
    const Status own = file_.close();
    return status ? own : status;
  }

 private:
  [[nodiscard]] Status move(Direction direction, const Extent& extent) {
    if (extent.offset_bytes != at_ && fseeko(stream_.get(), static_cast<off_t>(extent.offset_bytes), SEEK_SET) != 0)
      return fail(file_.failed(direction, errno, extent.offset_bytes));
    at_ = extent.offset_bytes;
    for (std::size_t done = 0; done < extent.length_bytes;) {
      errno = 0;
      const std::size_t moved = direction == Direction::write
                                    ? std::fwrite(extent.data + done, 1, extent.length_bytes - done, stream_.get())
                                    : std::fread(extent.data + done, 1, extent.length_bytes - done, stream_.get());
      done += moved;
      at_ += moved;
      if (done == extent.length_bytes) break;
      if (errno != EINTR) return fail(stopped(direction));
      std::clearerr(stream_.get());
    }
    return {};
  }

  [[nodiscard]] Error stopped(Direction direction) const {
    return std::ferror(stream_.get()) != 0 && errno != 0 ? file_.failed(direction, errno, at_)
                                                         : file_.nothing_moved(direction, at_);
  }

  [[nodiscard]] Status flush() {
    while (std::fflush(stream_.get()) != 0) {
      if (errno != EINTR) return fail(file_.failed(Direction::write, errno, at_));
      std::clearerr(stream_.get());
    }
    return {};
  }

  KernelFile file_;
  AlignedBuffer buffer_;  // outlives the stream, which may use it
  Stream stream_;
  Buffers& spare_;
  std::uint64_t at_ = 0;
};

constexpr Capabilities stdio_capabilities{.file_threads = 1};

class StdioBackend final : public KernelFileBackend {
 public:
  StdioBackend(const StdioParameters& parameters, const BackendContext& context)
      : KernelFileBackend(stdio_capabilities, {}, context, 1),
        buffer_bytes_(static_cast<std::size_t>(parameters.buffer_bytes)) {}

  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) override {
    auto file = open_file(request);
    if (!file) return fail(file.error());
    const std::string path = folder().path() + "/" + request.name;
    Descriptor own(fcntl(file->get(), F_DUPFD_CLOEXEC, 0));
    if (!own) return fail(errno_error(errno, "open", path));
    Stream stream(fdopen(own.get(), request.mode == OpenMode::read ? "r" : "w"));
    if (!stream) return fail(errno_error(errno, "open", path));
    (void)own.release();
    AlignedBuffer buffer = take_buffer();
    if (buffer.size() > 0) {
      auto* memory = reinterpret_cast<char*>(buffer.bytes().data());
      if (std::setvbuf(stream.get(), memory, _IOFBF, buffer.size()) != 0)
        return fail(errno_error(errno, "setvbuf", path));
    }
    return std::make_unique<StdioFile>(std::move(*file), std::move(buffer), std::move(stream), spare_);
  }

  /// Memory for a file's buffer is made here, not when a timer runs.
  [[nodiscard]] Status make_ready(std::span<std::byte> /*memory*/, const Concurrency& /*wanted*/) override {
    if (spare_.empty() && buffer_bytes_ > 0) spare_.emplace_back(buffer_bytes_, buffer_alignment);
    return {};
  }

  [[nodiscard]] Map hints_given() const override {
    if (buffer_bytes_ == 0) return {};
    return {{"setvbuf", std::to_string(buffer_bytes_)}};
  }

 private:
  [[nodiscard]] AlignedBuffer take_buffer() {
    if (buffer_bytes_ == 0) return {};
    if (spare_.empty()) return AlignedBuffer(buffer_bytes_, buffer_alignment);
    AlignedBuffer buffer = std::move(spare_.back());
    spare_.pop_back();
    return buffer;
  }

  std::size_t buffer_bytes_;
  Buffers spare_;
};

Result<std::unique_ptr<Backend>> make_stdio(const Values& values, const BackendContext& context) {
  const auto found = alignment_for({}, context, "stdio");
  if (!found) return fail(found.error());
  return std::make_unique<StdioBackend>(bind_parameters(stdio_table(), values), context);
}

const Registered<BackendEntry> registered_stdio{{
    .description = {.name = "stdio",
                    .doc = "Reads and writes files by fread and fwrite, through the C library's buffer and the page "
                           "cache.",
                    .parameters = specs_of(stdio_table())},
    .capabilities = stdio_capabilities,
    .make = make_stdio,
}};

}  // namespace
}  // namespace ullage
