// SPDX-License-Identifier: Apache-2.0
// Backend `pmem`: a mapping of the file that is written by libpmem, which knows how stores become durable without a
// system call where the file is on persistent memory.
#include <cerrno>
#include <cstring>

#include "base/std.hpp"
#include "storage/backend.hpp"
#include "storage/file_mapping.hpp"
#include "storage/kernel_file.hpp"
#include "storage/mapped_file.hpp"
#include "storage/pmem_library.hpp"

namespace ullage {
namespace {

struct PmemParameters : MappingParameters, StoreParameters {
  bool preallocate = false;
};

Table<PmemParameters> pmem_table() {
  using P = PmemParameters;
  return joined<P>(mapping_table<P>(), store_table<P>(),
                   Table<P>{flag("preallocate", &P::preallocate,
                                 "Allocate the whole size of a new file when it is made (fallocate).")});
}

const char* word_of(Persistence persistence) {
  switch (persistence) {
    case Persistence::real:
      return "yes";
    case Persistence::forced:
      return "forced";
    case Persistence::none:
      break;
  }
  return "no";
}

class PmemFile final : public MappedFile {
 public:
  PmemFile(MappedFileParts parts, const PmemParameters& parameters)
      : MappedFile(std::move(parts)), library_(*pmem_library()), parameters_(parameters) {}

  /// Stores that are not drained yet, or, where only the kernel can make them durable, all that it has not written.
  [[nodiscard]] Status sync() override {
    if (mapping().data() == nullptr) return file().sync();
    if (persistence_ != Persistence::none) {
      library_.drain();
      return {};
    }
    if (library_.sync(mapping().data(), mapping().size_bytes()) == 0) return {};
    return fail(errno_error(errno, "sync", path()));
  }

  [[nodiscard]] Map hints_granted() const override {
    return {{"map", mapping().is_sync() ? "MAP_SYNC" : "MAP_SHARED"},
            {"persistent", word_of(persistence_)},
            {"auto_flush", library_.has_auto_flush() == 1 ? "yes" : "no"}};
  }

 private:
  [[nodiscard]] Result<FileMapping> map(const KernelFile& file, std::uint64_t bytes, bool writes) override {
    auto mapped = map_by_pmem(file.get(), bytes, writes, parameters_, path());
    if (!mapped) return fail(mapped.error());
    persistence_ = mapped->persistence;
    return std::move(mapped->mapping);
  }

  [[nodiscard]] Status write_all(std::span<const Extent> extents, Meter& meter) override {
    if (parameters_.store == Store::persist && persistence_ == Persistence::none)
      return move_all<Direction::write>(extents, meter,
                                        [sync = library_.sync](std::byte* mapped, const Extent& extent) {
                                          std::memcpy(mapped, extent.data, extent.length_bytes);
                                          return sync(mapped, extent.length_bytes) == 0;
                                        });
    return with_store(parameters_, library_, [&](const auto& store) {
      return move_all<Direction::write>(extents, meter, [store](std::byte* mapped, const Extent& extent) {
        store(mapped, extent.data, extent.length_bytes);
        return true;
      });
    });
  }

  const PmemCalls& library_;
  PmemParameters parameters_;
  Persistence persistence_ = Persistence::none;
};

constexpr Capabilities pmem_capabilities{.metadata = true, .threads = 1024};

class PmemBackend final : public MappedBackend {
 public:
  PmemBackend(const PmemParameters& parameters, const BackendContext& context)
      : MappedBackend(pmem_capabilities, context, "pmem", parameters.preallocate), parameters_(parameters) {}

 private:
  [[nodiscard]] std::unique_ptr<MappedFile> make_file(MappedFileParts parts) override {
    return std::make_unique<PmemFile>(std::move(parts), parameters_);
  }

  PmemParameters parameters_;
};

Result<std::unique_ptr<Backend>> make_pmem(const Values& values, const BackendContext& context) {
  if (!pmem_library()) return fail(pmem_library().error());
  const auto found = alignment_for({}, context, "pmem");
  if (!found) return fail(found.error());
  return std::make_unique<PmemBackend>(bind_parameters(pmem_table(), values), context);
}

const Registered<BackendEntry> registered_pmem{{
    .description = {.name = "pmem",
                    .doc = "Copies from and to a mapping of the file by libpmem, which makes stores to persistent "
                           "memory durable without a system call.",
                    .parameters = specs_of(pmem_table()),
                    .missing = missing_pmem},
    .capabilities = pmem_capabilities,
    .make = make_pmem,
}};

}  // namespace
}  // namespace ullage
