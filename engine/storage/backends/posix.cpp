// SPDX-License-Identifier: Apache-2.0
// Backend `posix`: pread(2) and pwrite(2), through the page cache or past it.
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "storage/backend.hpp"
#include "storage/kernel_file.hpp"

namespace ullage {
namespace {

class PosixFile final : public File {
 public:
  explicit PosixFile(KernelFile file) : file_(std::move(file)) {}

  [[nodiscard]] Status transfer(Direction direction, std::span<const Extent> extents, Meter& meter) override {
    return direction == Direction::write ? move_all<Direction::write>(extents, meter)
                                         : move_all<Direction::read>(extents, meter);
  }
  [[nodiscard]] Status sync() override { return file_.sync(); }
  [[nodiscard]] Status close() override { return file_.close(); }

 private:
  template <Direction direction>
  [[nodiscard]] ssize_t call(const Extent& extent, std::size_t done) const noexcept {
    const auto offset = static_cast<off_t>(extent.offset_bytes + done);
    if constexpr (direction == Direction::write)
      return ::pwrite(file_.get(), extent.data + done, extent.length_bytes - done, offset);
    else
      return ::pread(file_.get(), extent.data + done, extent.length_bytes - done, offset);
  }

  template <Direction direction>
  [[nodiscard]] Status move_all(std::span<const Extent> extents, Meter& meter) const {
    for (const Extent& extent : extents) {
      const ssize_t moved = call<direction>(extent, 0);
      if (moved != static_cast<ssize_t>(extent.length_bytes)) [[unlikely]] {
        if (auto status = move_rest<direction>(extent, moved); !status) return status;
      }
      if (!meter.completed(extent.length_bytes)) break;
    }
    return {};
  }

  /// Goes on after a call that returned `moved`, not the whole length.
  template <Direction direction>
  [[nodiscard]] Status move_rest(const Extent& extent, ssize_t moved) const {
    std::size_t done = 0;
    while (true) {
      if (moved < 0 && errno != EINTR) return fail(file_.failed(direction, errno, extent.offset_bytes + done));
      if (moved == 0) return fail(file_.nothing_moved(direction, extent.offset_bytes + done));
      if (moved > 0) done += static_cast<std::size_t>(moved);
      if (done == extent.length_bytes) return {};
      moved = call<direction>(extent, done);
    }
  }

  KernelFile file_;
};

constexpr Capabilities posix_capabilities{.metadata = true};

class PosixBackend final : public KernelFileBackend {
 public:
  PosixBackend(const KernelFileParameters& parameters, const BackendContext& context, std::size_t alignment_bytes)
      : KernelFileBackend(posix_capabilities, parameters, context, alignment_bytes) {}

  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) override {
    auto file = open_file(request);
    if (!file) return fail(file.error());
    return std::make_unique<PosixFile>(std::move(*file));
  }
};

Result<std::unique_ptr<Backend>> make_posix(const Values& values, const BackendContext& context) {
  const auto parameters = bind_parameters(kernel_file_table<KernelFileParameters>(), values);
  const auto alignment_bytes = alignment_for(parameters, context, "posix");
  if (!alignment_bytes) return fail(alignment_bytes.error());
  return std::make_unique<PosixBackend>(parameters, context, *alignment_bytes);
}

const Registered<BackendEntry> registered{{
    {"posix",
     "pread and pwrite on files, through the page cache or past it",
     specs_of(kernel_file_table<KernelFileParameters>()),
     capability_words(posix_capabilities),
     {}},
    posix_capabilities,
    make_posix,
}};

}  // namespace
}  // namespace ullage
