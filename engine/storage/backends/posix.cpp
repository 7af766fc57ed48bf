// SPDX-License-Identifier: Apache-2.0
// Backend `posix`: pread(2) and pwrite(2), or their kin, through the page cache or past it.
#include <cerrno>

#include "base/std.hpp"
#include "storage/backend.hpp"
#include "storage/kernel_file.hpp"
#include "storage/moving_threads.hpp"
#include "storage/posix_calls.hpp"

namespace ullage {
namespace {

struct PosixParameters : KernelFileParameters {
  bool positioned = true;
  std::uint64_t vector_pieces = 1;
};

Table<PosixParameters> posix_table() {
  Table<PosixParameters> table = kernel_file_table<PosixParameters>();
  table.push_back(flag("positioned", &PosixParameters::positioned,
                       "Use pwrite and pread. If false, use write and read, after lseek where a transfer does not "
                       "begin at the file's position."));
  table.push_back(count("vector_pieces", &PosixParameters::vector_pieces, {1, VectorCall::most_pieces},
                        "Above 1, move each transfer in this many pieces by one pwritev or preadv. The pieces are "
                        "fewer where direct I/O needs larger ones."));
  return table;
}

/// `Call` is a class of storage/posix_calls.hpp.
template <class Call>
class PosixFile final : public File {
 public:
  /// `threads`: null where the rank moves its data alone.
  PosixFile(KernelFile file, const Call& call, MovingThreads* threads)
      : file_(std::move(file)),
        call_(call),
        calls_(threads == nullptr ? 0 : threads->size(), call),
        threads_(threads) {}

  [[nodiscard]] Status transfer(Direction direction, std::span<const Extent> extents, Meter& meter) override {
    return direction == Direction::write ? move_all<Direction::write>(extents, meter)
                                         : move_all<Direction::read>(extents, meter);
  }
  [[nodiscard]] Status sync() override { return file_.sync(); }
  [[nodiscard]] Status close() override { return file_.close(); }

 private:
  template <Direction direction>
  [[nodiscard]] Status move_all(std::span<const Extent> extents, Meter& meter) {
    if (threads_ != nullptr)
      return threads_->run(extents, meter, [this](std::size_t thread, const Extent& extent) {
        return move_one<direction>(calls_[thread], extent);
      });
    for (const Extent& extent : extents) {
      if (auto status = move_one<direction>(call_, extent); !status) return status;
      if (!meter.completed(extent.length_bytes)) break;
    }
    return {};
  }

  template <Direction direction>
  [[nodiscard]] Status move_one(Call& call, const Extent& extent) {
    const ssize_t moved = call.template move<direction>(file_.get(), extent, 0);
    if (moved != static_cast<ssize_t>(extent.length_bytes)) [[unlikely]]
      return move_rest<direction>(call, extent, moved);
    return {};
  }

  /// Goes on after a call that returned `moved`, not the whole length.
  template <Direction direction>
  [[nodiscard]] Status move_rest(Call& call, const Extent& extent, ssize_t moved) {
    std::size_t done = 0;
    while (true) {
      if (moved < 0 && errno != EINTR) return fail(file_.failed(direction, errno, extent.offset_bytes + done));
      if (moved == 0) return fail(file_.nothing_moved(direction, extent.offset_bytes + done));
      if (moved > 0) done += static_cast<std::size_t>(moved);
      if (done == extent.length_bytes) return {};
      moved = call.template move<direction>(file_.get(), extent, done);
    }
  }

  KernelFile file_;
  Call call_;                // of the rank, where it moves its data alone
  std::vector<Call> calls_;  // of each thread; else empty
  MovingThreads* threads_;
};

constexpr Capabilities posix_capabilities{.metadata = true, .threads = 1024, .file_threads = 1024};

class PosixBackend final : public KernelFileBackend {
 public:
  PosixBackend(const PosixParameters& parameters, const BackendContext& context, std::size_t alignment_bytes)
      : KernelFileBackend(posix_capabilities, parameters, context, alignment_bytes),
        positioned_(parameters.positioned),
        vector_pieces_(static_cast<std::size_t>(parameters.vector_pieces)) {}

  [[nodiscard]] Status make_ready(std::span<std::byte> /*memory*/, const Concurrency& wanted) override {
    if (wanted.threads > 1 && !positioned_)
      return fail(unsupported("several threads", "posix without positioned: the threads share a file's position"));
    return threads_.make_ready(wanted);
  }

  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) override {
    auto file = open_file(request);
    if (!file) return fail(file.error());
    if (!positioned_) return file_by(std::move(*file), SeekingCall{});
    if (vector_pieces_ > 1)
      return file_by(std::move(*file), VectorCall(vector_pieces_, capabilities().alignment_bytes));
    return file_by(std::move(*file), PositionedCall{});
  }

 private:
  template <class Call>
  [[nodiscard]] std::unique_ptr<File> file_by(KernelFile file, const Call& call) const {
    return std::make_unique<PosixFile<Call>>(std::move(file), call, threads_.threads());
  }

  bool positioned_;
  std::size_t vector_pieces_;
  FileThreads threads_;
};

Status check_posix(const Values& values, const std::string& pointer) {
  const auto parameters = bind_parameters(posix_table(), values);
  if (parameters.positioned || parameters.vector_pieces == 1) return {};
  return fail(bad_plan(pointer + "/vector_pieces", "needs positioned: pwritev and preadv state their offset"));
}

Result<std::unique_ptr<Backend>> make_posix(const Values& values, const BackendContext& context) {
  const auto parameters = bind_parameters(posix_table(), values);
  const auto alignment_bytes = alignment_for(parameters, context, "posix");
  if (!alignment_bytes) return fail(alignment_bytes.error());
  return std::make_unique<PosixBackend>(parameters, context, *alignment_bytes);
}

const Registered<BackendEntry> registered_posix{{
    .description = {.name = "posix",
                    .doc = "Reads and writes files by pread and pwrite or similar calls, through the page cache or "
                           "past it.",
                    .parameters = specs_of(posix_table())},
    .capabilities = posix_capabilities,
    .make = make_posix,
    .check = check_posix,
}};

}  // namespace
}  // namespace ullage
