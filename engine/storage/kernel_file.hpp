// SPDX-License-Identifier: Apache-2.0
// Files as the kernel's own calls have them: opened, synced and closed alike by the backends that only differ in how
// they move data.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/descriptor.hpp"
#include "base/parameters.hpp"
#include "base/std.hpp"
#include "mpi/agreement.hpp"
#include "mpi/comm.hpp"
#include "storage/backend.hpp"
#include "storage/file_facts.hpp"
#include "storage/posix_metadata.hpp"
#include "storage/run_folder.hpp"

namespace ullage {

enum class Advice { none, sequential, random };

struct KernelFileParameters {
  bool direct = false;
  Advice advice = Advice::none;
  bool preallocate = false;
};

[[nodiscard]] inline Words<Advice> words_of(Advice) {
  return {{Advice::none, "none"}, {Advice::sequential, "sequential"}, {Advice::random, "random"}};
}

/// The fields of a backend's parameters that begin with these.
template <class P>
[[nodiscard]] Table<P> kernel_file_table() {
  return {
      flag<P>("direct", &P::direct, "Bypass the page cache (O_DIRECT)."),
      choice<P, Advice>("advice", &P::advice, "Tell the kernel this access pattern for each file (posix_fadvise)."),
      flag<P>("preallocate", &P::preallocate, "Allocate the whole size of a new file when it is made (fallocate)."),
  };
}

/// A descriptor and what its errors are called.
class KernelFile final {
 public:
  KernelFile(Descriptor descriptor, std::string path) : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  [[nodiscard]] int get() const noexcept { return descriptor_.get(); }

  [[nodiscard]] Status sync() const {
    int code = 0;
    do code = ::fsync(descriptor_.get());
    while (code != 0 && errno == EINTR);
    return code == 0 ? Status{} : fail(errno_error(errno, "sync", path_));
  }

  /// Succeeds also for one that is closed already.
  [[nodiscard]] Status close() {
    if (!descriptor_) return {};
    // After EINTR the descriptor is gone all the same (Linux).
    if (::close(descriptor_.release()) == 0 || errno == EINTR) return {};
    return fail(errno_error(errno, "close", path_));
  }

  [[nodiscard]] Error failed(Direction direction, int code, std::uint64_t offset_bytes) const {
    return errno_error(code, word_of(direction), path_, offset_bytes);
  }

  /// The error of a call that moved nothing and gave no reason.
  [[nodiscard]] Error nothing_moved(Direction direction, std::uint64_t offset_bytes) const {
    Error error = failed(direction, EIO, offset_bytes);
    error.text =
        direction == Direction::read ? "end of file inside a transfer" : "the call wrote nothing and returned no error";
    return error;
  }

 private:
  Descriptor descriptor_;
  std::string path_;
};

/// Opens files below the run folder; what it is made from outlives it.
class KernelFileOpener final {
 public:
  /// `write_access`: O_WRONLY, or O_RDWR where what is written has to be readable as well.
  KernelFileOpener(const KernelFileParameters& parameters, const BackendContext& context, int write_access = O_WRONLY)
      : parameters_(parameters), world_(*context.world), folder_(*context.folder), write_access_(write_access) {}

  /// Collective over all ranks when request.shared: a new file is made by rank 0 alone and opened by the others when it
  /// is there.
  [[nodiscard]] Result<KernelFile> open(const OpenRequest& request) const {
    Result<Descriptor> file =
        request.shared ? open_shared(request) : open_own(request, request.mode == OpenMode::create);
    if (!file) return fail(file.error());
    return KernelFile(std::move(*file), path_of(request.name));
  }

  [[nodiscard]] Map hints_given() const {
    Map hints;
    if (parameters_.direct) hints["open"] = "O_DIRECT";
    if (parameters_.advice != Advice::none) hints["posix_fadvise"] = word_of(parameters_.advice);
    if (parameters_.preallocate) hints["fallocate"] = "whole file";
    return hints;
  }

 private:
  [[nodiscard]] Result<Descriptor> open_own(const OpenRequest& request, bool creates) const {
    int flags = request.mode == OpenMode::read ? O_RDONLY : write_access_;
    if (parameters_.direct) flags |= O_DIRECT;
    if (creates) flags |= O_CREAT | O_EXCL;
    auto file = folder_.open_file(request.name, flags);
    if (!file) return file;
    if (creates && parameters_.preallocate)
      if (auto status = allocate_file(file->get(), request.expected_bytes, path_of(request.name)); !status)
        return fail(status.error());
    if (auto status = advise(*file, request.name); !status) return fail(status.error());
    return file;
  }

  [[nodiscard]] Result<Descriptor> open_shared(const OpenRequest& request) const {
    const bool creates = request.mode == OpenMode::create;
    Result<Descriptor> file;
    if (!creates || world_.root()) file = open_own(request, creates);
    if (auto status = share_open(file); !status) return fail(status.error());
    if (!creates) return file;
    if (!world_.root()) file = open_own(request, false);
    if (auto status = share_open(file); !status) return fail(status.error());
    return file;
  }

  [[nodiscard]] Status advise(const Descriptor& file, const std::string& name) const {
    if (parameters_.advice == Advice::none) return {};
    const int advice = parameters_.advice == Advice::sequential ? POSIX_FADV_SEQUENTIAL : POSIX_FADV_RANDOM;
    const int error = posix_fadvise(file.get(), 0, 0, advice);
    return error == 0 ? Status{} : fail(errno_error(error, "advise", path_of(name)));
  }

  /// Makes it by one allocation: small files are opened while the clock runs.
  [[nodiscard]] std::string path_of(const std::string& name) const {
    std::string path;
    path.reserve(folder_.path().size() + 1 + name.size());
    path.append(folder_.path()).append(1, '/').append(name);
    return path;
  }

  [[nodiscard]] Status share_open(const Result<Descriptor>& file) const {
    return mpi::share_status(world_.all(), file ? Status{} : fail(file.error()));
  }

  KernelFileParameters parameters_;
  const mpi::World& world_;
  const RunFolder& folder_;
  int write_access_;
};

/// Does what backends over such files have in common: all but how an open file moves data.
class KernelFileBackend : public Backend {
 public:
  [[nodiscard]] Capabilities capabilities() const override { return capabilities_; }
  [[nodiscard]] Status make_directory(const std::string& name) override { return folder_.make_directory(name); }
  [[nodiscard]] Status remove_file(const std::string& name) override { return folder_.remove_file(name); }
  [[nodiscard]] Status remove_directory(const std::string& name) override { return folder_.remove_directory(name); }
  [[nodiscard]] Result<std::unique_ptr<MetadataApi>> make_metadata() override { return make_posix_metadata(folder_); }
  [[nodiscard]] Result<FileExtents> inspect(const std::string& name) override { return inspect_file(folder_, name); }
  [[nodiscard]] Status drop_cached(const std::string& name) override { return drop_cached_file(folder_, name); }
  [[nodiscard]] Map hints_given() const override { return opener_.hints_given(); }

 protected:
  /// `capabilities`: before a target is known. `write_access`: see KernelFileOpener.
  KernelFileBackend(Capabilities capabilities, const KernelFileParameters& parameters, const BackendContext& context,
                    std::size_t alignment_bytes, int write_access = O_WRONLY)
      : opener_(parameters, context, write_access), folder_(*context.folder), capabilities_(capabilities) {
    capabilities_.direct = parameters.direct;
    capabilities_.alignment_bytes = alignment_bytes;
  }

  [[nodiscard]] Result<KernelFile> open_file(const OpenRequest& request) const { return opener_.open(request); }
  [[nodiscard]] const RunFolder& folder() const { return folder_; }

 private:
  KernelFileOpener opener_;
  const RunFolder& folder_;
  Capabilities capabilities_;
};

/// Checks what a backend over such files needs of its target: a path, and the alignment that direct I/O asks for (else
/// 1). Environment error where there is none. `backend` is its name.
[[nodiscard]] inline Result<std::size_t> alignment_for(const KernelFileParameters& parameters,
                                                       const BackendContext& context, const std::string& backend) {
  if (context.folder == nullptr)
    return fail(environment_error("", "backend '" + backend + "' needs a target with a path"));
  if (!parameters.direct) return 1;
  return direct_alignment_bytes(*context.folder);
}

}  // namespace ullage
