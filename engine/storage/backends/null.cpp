// SPDX-License-Identifier: Apache-2.0
// Backend `null`: every call returns at once. What is left is the cost of the harness itself.
#include <memory>

#include "storage/backend.hpp"

namespace ullage {
namespace {

class NullFile final : public File {
 public:
  [[nodiscard]] Status transfer(Direction, std::span<const Extent> extents, Meter& meter) override {
    for (const Extent& extent : extents)
      if (!meter.completed(extent.length_bytes)) break;
    return {};
  }
  [[nodiscard]] Status sync() override { return {}; }
  [[nodiscard]] Status close() override { return {}; }
};

class NullViewedFile final : public ViewedFile {
 public:
  [[nodiscard]] Status set_view(const FileView&, const Map&) override { return {}; }
  [[nodiscard]] Status set_hints(const Map&) override { return {}; }
  [[nodiscard]] Status move(Direction, Pointer, std::span<std::byte>) override { return {}; }
  [[nodiscard]] Status sync() override { return {}; }
  [[nodiscard]] Status close() override { return {}; }
};

constexpr Capabilities null_capabilities{.path = false, .data = false, .views = true, .file_threads = 1024};

class NullBackend final : public Backend {
 public:
  [[nodiscard]] Capabilities capabilities() const override { return null_capabilities; }
  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest&) override { return std::make_unique<NullFile>(); }
  [[nodiscard]] Result<std::unique_ptr<ViewedFile>> open_viewed(const OpenRequest&, const Map&) override {
    return std::make_unique<NullViewedFile>();
  }
};

const Registered<BackendEntry> registered_null{{
    .description = {.name = "null",
                    .doc = "Returns from every call at once and stores nothing. This measures the cost of the engine "
                           "itself."},
    .capabilities = null_capabilities,
    .make = [](const Values&, const BackendContext&) -> Result<std::unique_ptr<Backend>> {
      return std::make_unique<NullBackend>();
    },
}};

}  // namespace
}  // namespace ullage
