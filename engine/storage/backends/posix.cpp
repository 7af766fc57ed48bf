// SPDX-License-Identifier: Apache-2.0
// Backend `posix`: pread(2) and pwrite(2), through the page cache or past it.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include "storage/backend.hpp"
#include "storage/backends/posix_metadata.hpp"
#include "storage/file_facts.hpp"

namespace ullage {
namespace {

enum class Advice { none, sequential, random };

const Words<Advice> advice_words{
    {Advice::none, "none"}, {Advice::sequential, "sequential"}, {Advice::random, "random"}};

struct PosixParameters {
  bool direct = false;
  Advice advice = Advice::none;
  bool preallocate = false;
};

Table<PosixParameters> posix_table() {
  using P = PosixParameters;
  return {
      flag("direct", &P::direct, "bypass the page cache (O_DIRECT)"),
      choice("advice", &P::advice, advice_words, "access pattern told to the kernel for each file (posix_fadvise)"),
      flag("preallocate", &P::preallocate, "allocate a new file's whole size when it is made (fallocate)"),
  };
}

class PosixFile final : public File {
 public:
  PosixFile(Descriptor descriptor, std::string path) : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  [[nodiscard]] Status transfer(Direction direction, std::span<const Extent> extents, Meter& meter) override {
    return direction == Direction::write ? move_all<Direction::write>(extents, meter)
                                         : move_all<Direction::read>(extents, meter);
  }

  [[nodiscard]] Status sync() override {
    int code = 0;
    do code = ::fsync(descriptor_.get());
    while (code != 0 && errno == EINTR);
    return code == 0 ? Status{} : fail(errno_error(errno, "sync", path_));
  }

  [[nodiscard]] Status close() override {
    if (!descriptor_) return {};
    // After EINTR the descriptor is gone all the same (Linux).
    if (::close(descriptor_.release()) == 0 || errno == EINTR) return {};
    return fail(errno_error(errno, "close", path_));
  }

 private:
  template <Direction direction>
  [[nodiscard]] ssize_t call(const Extent& extent, std::size_t done) const noexcept {
    const auto offset = static_cast<off_t>(extent.offset_bytes + done);
    if constexpr (direction == Direction::write)
      return ::pwrite(descriptor_.get(), extent.data + done, extent.length_bytes - done, offset);
    else
      return ::pread(descriptor_.get(), extent.data + done, extent.length_bytes - done, offset);
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
      if (moved < 0 && errno != EINTR)
        return fail(errno_error(errno, word<direction>(), path_, extent.offset_bytes + done));
      if (moved == 0) return fail(nothing_moved<direction>(extent.offset_bytes + done));
      if (moved > 0) done += static_cast<std::size_t>(moved);
      if (done == extent.length_bytes) return {};
      moved = call<direction>(extent, done);
    }
  }

  template <Direction direction>
  [[nodiscard]] Error nothing_moved(std::uint64_t offset_bytes) const {
    Error error = errno_error(EIO, word<direction>(), path_, offset_bytes);
    error.text =
        direction == Direction::read ? "end of file inside a transfer" : "the call wrote nothing and gave no reason";
    return error;
  }

  template <Direction direction>
  [[nodiscard]] static std::string word() {
    return direction == Direction::write ? "write" : "read";
  }

  Descriptor descriptor_;
  std::string path_;
};

constexpr Capabilities posix_capabilities{.metadata = true};

class PosixBackend final : public Backend {
 public:
  PosixBackend(const PosixParameters& parameters, const BackendContext& context, std::size_t alignment_bytes)
      : parameters_(parameters), world_(*context.world), folder_(*context.folder), alignment_bytes_(alignment_bytes) {}

  [[nodiscard]] Capabilities capabilities() const override {
    Capabilities capabilities = posix_capabilities;
    capabilities.direct = parameters_.direct;
    capabilities.alignment_bytes = alignment_bytes_;
    return capabilities;
  }

  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) override {
    Result<Descriptor> file =
        request.shared ? open_shared(request) : open_own(request, request.mode == OpenMode::create);
    if (!file) return fail(file.error());
    return std::make_unique<PosixFile>(std::move(*file), folder_.path() + "/" + request.name);
  }

  [[nodiscard]] Status make_directory(const std::string& name) override { return folder_.make_directory(name); }
  [[nodiscard]] Status remove_file(const std::string& name) override { return folder_.remove_file(name); }
  [[nodiscard]] Status remove_directory(const std::string& name) override { return folder_.remove_directory(name); }
  [[nodiscard]] Result<std::unique_ptr<MetadataApi>> metadata() override { return make_posix_metadata(folder_); }
  [[nodiscard]] Result<Extents> inspect(const std::string& name) override { return inspect_file(folder_, name); }
  [[nodiscard]] Status drop_cached(const std::string& name) override { return drop_cached_file(folder_, name); }

  [[nodiscard]] Map hints_given() const override {
    Map hints;
    if (parameters_.direct) hints["open"] = "O_DIRECT";
    if (parameters_.advice != Advice::none) hints["posix_fadvise"] = detail::word_of(advice_words, parameters_.advice);
    if (parameters_.preallocate) hints["fallocate"] = "whole file";
    return hints;
  }

 private:
  [[nodiscard]] Result<Descriptor> open_own(const OpenRequest& request, bool creates) const {
    int flags = request.mode == OpenMode::read ? O_RDONLY : O_WRONLY;
    if (parameters_.direct) flags |= O_DIRECT;
    if (creates) flags |= O_CREAT | O_EXCL;
    auto file = folder_.open_file(request.name, flags);
    if (!file) return file;
    const std::string path = folder_.path() + "/" + request.name;
    if (creates && parameters_.preallocate)
      if (auto status = allocate_file(file->get(), request.expected_bytes, path); !status) return fail(status.error());
    if (auto status = advise(*file, path); !status) return fail(status.error());
    return file;
  }

  [[nodiscard]] Status advise(const Descriptor& file, const std::string& path) const {
    if (parameters_.advice == Advice::none) return {};
    const int advice = parameters_.advice == Advice::sequential ? POSIX_FADV_SEQUENTIAL : POSIX_FADV_RANDOM;
    const int error = posix_fadvise(file.get(), 0, 0, advice);
    return error == 0 ? Status{} : fail(errno_error(error, "advise", path));
  }

  /// A new file is made by rank 0 alone and opened by the others when it is there.
  [[nodiscard]] Result<Descriptor> open_shared(const OpenRequest& request) const {
    const bool creates = request.mode == OpenMode::create;
    Result<Descriptor> file;
    if (!creates || world_.root()) file = open_own(request, creates);
    if (auto status = agreed(file, request.name); !status) return fail(status.error());
    if (!creates) return file;
    if (!world_.root()) file = open_own(request, false);
    if (auto status = agreed(file, request.name); !status) return fail(status.error());
    return file;
  }

  [[nodiscard]] Status agreed(const Result<Descriptor>& file, const std::string& name) const {
    return agree(world_.all(), file ? Status{} : fail(file.error()), "open", folder_.path() + "/" + name);
  }

  PosixParameters parameters_;
  const mpi::World& world_;
  const RunFolder& folder_;
  std::size_t alignment_bytes_;
};

Result<std::unique_ptr<Backend>> make_posix(const Values& values, const BackendContext& context) {
  const auto parameters = bind_parameters(posix_table(), values);
  if (context.folder == nullptr) return fail(environment_error("", "backend 'posix' needs a target with a path"));
  std::size_t alignment_bytes = 1;
  if (parameters.direct) {
    const auto found = direct_alignment_bytes(*context.folder);
    if (!found) return fail(found.error());
    alignment_bytes = *found;
  }
  return std::make_unique<PosixBackend>(parameters, context, alignment_bytes);
}

const Registered<BackendEntry> registered{{
    {"posix",
     "pread and pwrite on files, through the page cache or past it",
     specs_of(posix_table()),
     capability_words(posix_capabilities),
     {}},
    posix_capabilities,
    make_posix,
}};

}  // namespace
}  // namespace ullage
