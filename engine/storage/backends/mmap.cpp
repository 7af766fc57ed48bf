// SPDX-License-Identifier: Apache-2.0
// Backend `mmap`: memcpy(3) from and to a shared mapping of the file.
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/std.hpp"
#include "storage/backend.hpp"
#include "storage/file_mapping.hpp"
#include "storage/kernel_file.hpp"
#include "storage/mapped_file.hpp"

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

class MmapFile final : public MappedFile {
 public:
  MmapFile(MappedFileParts parts, const MmapParameters& parameters)
      : MappedFile(std::move(parts)), parameters_(parameters) {}

  [[nodiscard]] Status sync() override {
    if (mapping().data() == nullptr) return file().sync();
    if (msync(mapping().data(), mapping().size_bytes(), MS_SYNC) == 0) return {};
    return fail(errno_error(errno, "sync", path()));
  }

  [[nodiscard]] Map hints_granted() const override {
    return {{"map", mapping().is_sync() ? "MAP_SYNC" : "MAP_SHARED"}};
  }

 private:
  [[nodiscard]] Result<FileMapping> map(const KernelFile& file, std::uint64_t bytes, bool writes) override {
    return FileMapping::map(file.get(), bytes, writes, parameters_, path());
  }

  [[nodiscard]] Status write_all(std::span<const Extent> extents, Meter& meter) override {
    return move_all<Direction::write>(extents, meter, [](std::byte* mapped, const Extent& extent) {
      std::memcpy(mapped, extent.data, extent.length_bytes);
      return true;
    });
  }

  MmapParameters parameters_;
};

constexpr Capabilities mmap_capabilities{.metadata = true, .threads = 1024, .file_threads = 1};

class MmapBackend final : public MappedBackend {
 public:
  MmapBackend(const MmapParameters& parameters, const BackendContext& context)
      : MappedBackend(mmap_capabilities, context, "mmap", parameters.preallocate), parameters_(parameters) {}

 private:
  [[nodiscard]] std::unique_ptr<MappedFile> make_file(MappedFileParts parts) override {
    return std::make_unique<MmapFile>(std::move(parts), parameters_);
  }

  MmapParameters parameters_;
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
