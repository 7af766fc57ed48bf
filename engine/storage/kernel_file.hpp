// SPDX-License-Identifier: Apache-2.0
// Files as the kernel's own calls have them: opened, synced and closed alike by the backends that only differ in how
// they move data.
#pragma once

#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/descriptor.hpp"
#include "base/parameters.hpp"
#include "mpi/comm.hpp"
#include "storage/backend.hpp"
#include "storage/run_folder.hpp"

namespace ullage {

enum class Advice { none, sequential, random };

struct KernelFileParameters {
  bool direct = false;
  Advice advice = Advice::none;
  bool preallocate = false;
};

[[nodiscard]] Words<Advice> advice_words();

/// The fields of a backend's parameters that begin with these.
template <class P>
[[nodiscard]] Table<P> kernel_file_table() {
  return {
      flag<P>("direct", &P::direct, "Bypass the page cache (O_DIRECT)."),
      choice<P, Advice>("advice", &P::advice, advice_words(),
                        "Tell the kernel this access pattern for each file (posix_fadvise)."),
      flag<P>("preallocate", &P::preallocate, "Allocate the whole size of a new file when it is made (fallocate)."),
  };
}

/// A descriptor and what its errors are called.
class KernelFile final {
 public:
  KernelFile(Descriptor descriptor, std::string path) : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  [[nodiscard]] int get() const noexcept { return descriptor_.get(); }
  [[nodiscard]] Status sync() const;
  /// Succeeds also for one that is closed already.
  [[nodiscard]] Status close();

  [[nodiscard]] Error failed(Direction direction, int code, std::uint64_t offset_bytes) const;
  /// The error of a call that moved nothing and gave no reason.
  [[nodiscard]] Error nothing_moved(Direction direction, std::uint64_t offset_bytes) const;

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
  [[nodiscard]] Result<KernelFile> open(const OpenRequest& request) const;
  [[nodiscard]] Map hints_given() const;

 private:
  [[nodiscard]] Result<Descriptor> open_own(const OpenRequest& request, bool creates) const;
  [[nodiscard]] Result<Descriptor> open_shared(const OpenRequest& request) const;
  [[nodiscard]] Status advise(const Descriptor& file, const std::string& name) const;
  [[nodiscard]] std::string path_of(const std::string& name) const;
  [[nodiscard]] Status share_open(const Result<Descriptor>& file) const;

  KernelFileParameters parameters_;
  const mpi::World& world_;
  const RunFolder& folder_;
  int write_access_;
};

/// Does what backends over such files have in common: all but how an open file moves data.
class KernelFileBackend : public Backend {
 public:
  [[nodiscard]] Capabilities capabilities() const override { return capabilities_; }
  [[nodiscard]] Status make_directory(const std::string& name) override;
  [[nodiscard]] Status remove_file(const std::string& name) override;
  [[nodiscard]] Status remove_directory(const std::string& name) override;
  [[nodiscard]] Result<std::unique_ptr<MetadataApi>> make_metadata() override;
  [[nodiscard]] Result<FileExtents> inspect(const std::string& name) override;
  [[nodiscard]] Status drop_cached(const std::string& name) override;
  [[nodiscard]] Map hints_given() const override { return opener_.hints_given(); }

 protected:
  /// `capabilities`: before a target is known. `write_access`: see KernelFileOpener.
  KernelFileBackend(Capabilities capabilities, const KernelFileParameters& parameters, const BackendContext& context,
                    std::size_t alignment_bytes, int write_access = O_WRONLY);
  [[nodiscard]] Result<KernelFile> open_file(const OpenRequest& request) const { return opener_.open(request); }
  [[nodiscard]] const RunFolder& folder() const { return folder_; }

 private:
  KernelFileOpener opener_;
  const RunFolder& folder_;
  Capabilities capabilities_;
};

/// Checks what a backend over such files needs of its target: a path, and the alignment that direct I/O asks for (else
/// 1). Environment error where there is none. `backend` is its name.
[[nodiscard]] Result<std::size_t> alignment_for(const KernelFileParameters& parameters, const BackendContext& context,
                                                const std::string& backend);

}  // namespace ullage
