// SPDX-License-Identifier: Apache-2.0
#include "storage/kernel_file.hpp"

#include <unistd.h>

#include <cerrno>

#include "mpi/agreement.hpp"
#include "storage/file_facts.hpp"
#include "storage/posix_metadata.hpp"

namespace ullage {
Words<Advice> advice_words() {
  return {{Advice::none, "none"}, {Advice::sequential, "sequential"}, {Advice::random, "random"}};
}

Status KernelFile::sync() const {
  int code = 0;
  do code = ::fsync(descriptor_.get());
  while (code != 0 && errno == EINTR);
  return code == 0 ? Status{} : fail(errno_error(errno, "sync", path_));
}

Status KernelFile::close() {
  if (!descriptor_) return {};
  // After EINTR the descriptor is gone all the same (Linux).
  if (::close(descriptor_.release()) == 0 || errno == EINTR) return {};
  return fail(errno_error(errno, "close", path_));
}

Error KernelFile::failed(Direction direction, int code, std::uint64_t offset_bytes) const {
  return errno_error(code, word(direction), path_, offset_bytes);
}

Error KernelFile::nothing_moved(Direction direction, std::uint64_t offset_bytes) const {
  Error error = failed(direction, EIO, offset_bytes);
  error.text =
      direction == Direction::read ? "end of file inside a transfer" : "the call wrote nothing and returned no error";
  return error;
}

Result<KernelFile> KernelFileOpener::open(const OpenRequest& request) const {
  Result<Descriptor> file = request.shared ? open_shared(request) : open_own(request, request.mode == OpenMode::create);
  if (!file) return fail(file.error());
  return KernelFile(std::move(*file), path_of(request.name));
}

/// Makes it by one allocation: small files are opened while the clock runs.
std::string KernelFileOpener::path_of(const std::string& name) const {
  std::string path;
  path.reserve(folder_.path().size() + 1 + name.size());
  path.append(folder_.path()).append(1, '/').append(name);
  return path;
}

Map KernelFileOpener::hints_given() const {
  Map hints;
  if (parameters_.direct) hints["open"] = "O_DIRECT";
  if (parameters_.advice != Advice::none) hints["posix_fadvise"] = detail::word_of(advice_words(), parameters_.advice);
  if (parameters_.preallocate) hints["fallocate"] = "whole file";
  return hints;
}

Result<Descriptor> KernelFileOpener::open_own(const OpenRequest& request, bool creates) const {
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

Status KernelFileOpener::advise(const Descriptor& file, const std::string& name) const {
  if (parameters_.advice == Advice::none) return {};
  const int advice = parameters_.advice == Advice::sequential ? POSIX_FADV_SEQUENTIAL : POSIX_FADV_RANDOM;
  const int error = posix_fadvise(file.get(), 0, 0, advice);
  return error == 0 ? Status{} : fail(errno_error(error, "advise", path_of(name)));
}

Result<Descriptor> KernelFileOpener::open_shared(const OpenRequest& request) const {
  const bool creates = request.mode == OpenMode::create;
  Result<Descriptor> file;
  if (!creates || world_.root()) file = open_own(request, creates);
  if (auto status = share_open(file); !status) return fail(status.error());
  if (!creates) return file;
  if (!world_.root()) file = open_own(request, false);
  if (auto status = share_open(file); !status) return fail(status.error());
  return file;
}

Status KernelFileOpener::share_open(const Result<Descriptor>& file) const {
  return mpi::share_status(world_.all(), file ? Status{} : fail(file.error()));
}

KernelFileBackend::KernelFileBackend(Capabilities capabilities, const KernelFileParameters& parameters,
                                     const BackendContext& context, std::size_t alignment_bytes, int write_access)
    : opener_(parameters, context, write_access), folder_(*context.folder), capabilities_(capabilities) {
  capabilities_.direct = parameters.direct;
  capabilities_.alignment_bytes = alignment_bytes;
}

Status KernelFileBackend::make_directory(const std::string& name) { return folder_.make_directory(name); }
Status KernelFileBackend::remove_file(const std::string& name) { return folder_.remove_file(name); }
Status KernelFileBackend::remove_directory(const std::string& name) { return folder_.remove_directory(name); }
Result<std::unique_ptr<MetadataApi>> KernelFileBackend::make_metadata() { return make_posix_metadata(folder_); }
Result<FileExtents> KernelFileBackend::inspect(const std::string& name) { return inspect_file(folder_, name); }
Status KernelFileBackend::drop_cached(const std::string& name) { return drop_cached_file(folder_, name); }

Result<std::size_t> alignment_for(const KernelFileParameters& parameters, const BackendContext& context,
                                  const std::string& backend) {
  if (context.folder == nullptr)
    return fail(environment_error("", "backend '" + backend + "' needs a target with a path"));
  if (!parameters.direct) return 1;
  return direct_alignment_bytes(*context.folder);
}

}  // namespace ullage
