// SPDX-License-Identifier: Apache-2.0
// Backend `null`: every call returns at once. What is left is the cost of the harness itself.
#include <memory>
#include <utility>

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

constexpr Capabilities null_capabilities{.path = false, .data = false};

class NullBackend final : public Backend {
 public:
  [[nodiscard]] Capabilities capabilities() const override { return null_capabilities; }
  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest&) override { return std::make_unique<NullFile>(); }
};

const Registered<BackendEntry> registered{{
    {"null",
     "every call returns at once and nothing is stored: the cost of the harness itself",
     {},
     capability_words(null_capabilities),
     {}},
    null_capabilities,
    [](const Values&, const BackendContext&) -> Result<std::unique_ptr<Backend>> {
      return std::make_unique<NullBackend>();
    },
}};

}  // namespace
}  // namespace ullage
