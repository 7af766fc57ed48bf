// SPDX-License-Identifier: Apache-2.0
// Backend `devdax`: files that are parts of a device of persistent memory without a file system, stored by libpmem. The
// device has to be named and empty, and is left empty.
#include <cerrno>
#include <cstring>
#include <map>

#include "base/count.hpp"
#include "base/std.hpp"
#include "storage/backend.hpp"
#include "storage/dax_device.hpp"
#include "storage/extent_run.hpp"
#include "storage/file_mapping.hpp"
#include "storage/pmem_library.hpp"

namespace ullage {
namespace {

struct DevdaxParameters : StoreParameters {
  std::string device;
};

Table<DevdaxParameters> devdax_table() {
  using P = DevdaxParameters;
  return joined<P>(Table<P>{text("device", &P::device,
                                 "Use this device, for example /dev/dax0.0. All of it has to be zero, and is again "
                                 "after each repetition. Ranks of a node divide it. Required.")},
                   store_table<P>());
}

/// Says what a rank has under a name.
struct DevdaxPart {
  std::span<std::byte> room;
  std::uint64_t size_bytes = 0;  // of what was written
};

class DevdaxFile final : public File {
 public:
  DevdaxFile(DevdaxPart& part, std::string place, const DevdaxParameters& parameters)
      : part_(part), place_(std::move(place)), parameters_(parameters), library_(*pmem_library()) {}

  [[nodiscard]] Status transfer(Direction direction, std::span<const Extent> extents, Meter& meter) override {
    const ExtentRun run = run_of(extents);
    const std::uint64_t end = run.end_bytes;
    if (direction == Direction::read) {
      if (end > part_.size_bytes) return fail(beyond(direction, EIO, "end of file inside a transfer"));
      return move(direction, extents, run, meter,
                  [](std::byte* held, const Extent& extent) { std::memcpy(extent.data, held, extent.length_bytes); });
    }
    if (end > part_.room.size()) return fail(beyond(direction, ENOSPC, "a file does not grow beyond its first size"));
    part_.size_bytes = std::max(part_.size_bytes, end);
    return with_store(parameters_, library_, [&](const auto& store) {
      return move(direction, extents, run, meter,
                  [store](std::byte* held, const Extent& extent) { store(held, extent.data, extent.length_bytes); });
    });
  }
  [[nodiscard]] Status sync() override {
    library_.drain();
    return {};
  }
  [[nodiscard]] Status close() override { return {}; }
  [[nodiscard]] Map hints_granted() const override {
    return {{"map", "MAP_SYNC"},  // no file, so nothing but the data has to be written
            {"persistent", "yes"},
            {"auto_flush", library_.has_auto_flush() == 1 ? "yes" : "no"}};
  }

 private:
  /// Stands by itself: see MappedFile::copy_each().
  template <class Copy>
  [[gnu::noinline]] void copy_each(std::span<const Extent> extents, const ExtentRun& run, Meter& meter, Copy copy) {
    std::byte* const held = part_.room.data();
    (void)with_extents(extents, run, [&](const auto& extent_at) {
      return meter.each(extents.size(), [=](std::size_t i) -> std::uint64_t {
        const Extent extent = extent_at(i);
        copy(held + extent.offset_bytes, extent);
        return extent.length_bytes;
      });
    });
  }

  /// A page that the memory has lost (an uncorrectable error) ends it.
  template <class Copy>
  [[nodiscard]] Status move(Direction direction, std::span<const Extent> extents, const ExtentRun& run, Meter& meter,
                            const Copy& copy) {
    const bool is_whole = survives_bus_error([&] { copy_each(extents, run, meter, copy); });
    if (is_whole) return {};
    return fail(beyond(direction, EIO, "SIGBUS: the device has lost a page"));
  }

  [[nodiscard]] Error beyond(Direction direction, int code, const std::string& text) const {
    Error error = errno_error(code, word_of(direction), place_, part_.size_bytes);
    error.text = text;
    return error;
  }

  DevdaxPart& part_;
  std::string place_;
  const DevdaxParameters& parameters_;
  const PmemCalls& library_;
};

constexpr Capabilities devdax_capabilities{.path = false, .memory = true, .dax = true};

/// Parts follow each other in this rank's part of the device. What is left at the end is made zero then.
class DevdaxBackend final : public Backend {
 public:
  DevdaxBackend(DevdaxParameters parameters, std::shared_ptr<DaxDevice> device)
      : parameters_(std::move(parameters)), device_(std::move(device)) {}
  ~DevdaxBackend() override {
    for (auto& [name, part] : parts_) clear(part);
  }

  [[nodiscard]] Capabilities capabilities() const override { return devdax_capabilities; }

  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) override {
    if (request.shared) return fail(unsupported("a file shared by several ranks", "devdax: use a file per process"));
    if (request.mode == OpenMode::create)
      if (auto made = make_part(request); !made) return fail(made.error());
    const auto found = find(request.name);
    if (!found) return fail(found.error());
    return std::make_unique<DevdaxFile>(**found, place_of(request.name), parameters_);
  }

  /// Names have no directories.
  [[nodiscard]] Status make_directory(const std::string&) override { return {}; }
  [[nodiscard]] Status remove_directory(const std::string&) override { return {}; }
  [[nodiscard]] Status remove_file(const std::string& name) override {
    const auto found = parts_.find(name);
    if (found == parts_.end()) return {};
    clear(found->second);
    parts_.erase(found);
    if (parts_.empty()) used_bytes_ = 0;
    return {};
  }
  [[nodiscard]] Result<FileExtents> inspect(const std::string& name) override {
    const auto found = find(name);
    if (!found) return fail(found.error());
    return FileExtents{(*found)->size_bytes, true};
  }
  /// No cache stands before it.
  [[nodiscard]] Status drop_cached(const std::string&) override { return {}; }

 private:
  [[nodiscard]] std::string place_of(const std::string& name) const { return device_->path() + ":" + name; }

  [[nodiscard]] Result<DevdaxPart*> find(const std::string& name) {
    const auto found = parts_.find(name);
    if (found != parts_.end()) return &found->second;
    Error error = errno_error(ENOENT, "open", place_of(name));
    error.text = "this rank has made no such file, and those of other ranks are not open to it";
    return fail(error);
  }

  [[nodiscard]] Status make_part(const OpenRequest& request) {
    if (parts_.contains(request.name)) return fail(errno_error(EEXIST, "create", place_of(request.name)));
    const auto bytes =
        round_up<std::uint64_t>(std::max<std::uint64_t>(request.expected_bytes, 1), device_->unit_bytes());
    const std::uint64_t left = device_->part().size() - used_bytes_;
    if (bytes > left) {
      Error error = errno_error(ENOSPC, "create", place_of(request.name));
      error.text = "needs " + std::to_string(bytes) + " bytes, and " + std::to_string(left) +
                   " of this rank's part of the device are left";
      return fail(error);
    }
    parts_[request.name] = {device_->part().subspan(used_bytes_, bytes)};
    used_bytes_ += bytes;
    return {};
  }

  void clear(const DevdaxPart& part) const {
    static const std::vector<std::byte> zeros(std::size_t{1} << 20);
    const auto written = part.room.first(std::min<std::size_t>(part.size_bytes, part.room.size()));
    (void)survives_bus_error([&] {
      for (std::size_t at = 0; at < written.size(); at += zeros.size())
        pmem_library()->copy(written.data() + at, zeros.data(), std::min(zeros.size(), written.size() - at), 0);
    });
  }

  DevdaxParameters parameters_;
  std::shared_ptr<DaxDevice> device_;
  BusErrorHandler handler_;
  std::map<std::string, DevdaxPart> parts_;
  std::uint64_t used_bytes_ = 0;
};

Result<std::unique_ptr<Backend>> make_devdax(const Values& values, const BackendContext& context) {
  if (!pmem_library()) return fail(pmem_library().error());
  auto parameters = bind_parameters(devdax_table(), values);
  if (parameters.device.empty())
    return fail(environment_error("devdax",
                                  "needs parameter device, for example /dev/dax0.0: no device is used that "
                                  "was not named"));
  auto device = DaxDevice::open(parameters.device, context.world->node());
  if (!device) return fail(device.error());
  return std::make_unique<DevdaxBackend>(std::move(parameters), std::move(*device));
}

Status check_devdax(const Values& values, const std::string& pointer) {
  const std::string device = bind_parameters(devdax_table(), values).device;
  if (device.empty() || device.starts_with("/dev/")) return {};
  return fail(
      bad_plan(pointer + "/device", "must name a device below /dev that may be overwritten, for example /dev/dax0.0"));
}

const Registered<BackendEntry> registered_devdax{{
    .description = {.name = "devdax",
                    .doc = "Copies from and to a device of persistent memory without a file system (devdax), which "
                           "has to be empty. What is written lasts until the end of the repetition.",
                    .parameters = specs_of(devdax_table()),
                    .missing = missing_pmem},
    .capabilities = devdax_capabilities,
    .make = make_devdax,
    .check = check_devdax,
}};

}  // namespace
}  // namespace ullage
