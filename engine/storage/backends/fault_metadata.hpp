// SPDX-License-Identifier: Apache-2.0
// Work on names of backend `fault`.
#pragma once

#include <map>

#include "base/std.hpp"
#include "storage/backends/fault_calls.hpp"
#include "storage/fault_injector.hpp"
#include "storage/metadata.hpp"

namespace ullage {

inline FaultOperation fault_of(MetadataOperation operation) {
  using enum FaultOperation;
  static constexpr std::array<FaultOperation, 11> faults{mkdir, create,   stat, read,   rename, readdir,
                                                         chmod, truncate, open, remove, remove};
  return faults.at(static_cast<std::size_t>(operation));
}

class FaultMetadata final : public MetadataApi {
 public:
  /// `folder` is what comes before names in errors.
  FaultMetadata(std::unique_ptr<MetadataApi> inner, FaultInjector& injector, std::string folder)
      : inner_(std::move(inner)), injector_(injector), folder_(std::move(folder)) {}

  [[nodiscard]] Result<int> enter(const std::string& directory) override {
    const auto handle = inner_->enter(directory);
    if (handle) directories_[*handle] = directory;
    return handle;
  }
  void leave(int directory) override {
    directories_.erase(directory);
    inner_->leave(directory);
  }

  [[nodiscard]] Status perform(MetadataOperation operation, std::span<const MetadataItem> items, bool sync,
                               Meter& meter) override {
    const FaultOperation fault = fault_of(operation);
    while (!items.empty()) {
      const std::uint64_t untouched = injector_.untouched(fault);
      const auto part = items.first(static_cast<std::size_t>(std::clamp<std::uint64_t>(untouched, 1, items.size())));
      const std::uint64_t done_before = meter.operations();
      const Status status =
          untouched == 0 ? go_wrong(operation, part, sync, meter) : inner_->perform(operation, part, sync, meter);
      const std::uint64_t done = meter.operations() - done_before;
      injector_.pass(fault, untouched == 0 ? 1 : done);
      if (!status || done < part.size() || !meter.goes_on()) return status;
      items = items.subspan(part.size());
    }
    return {};
  }

  [[nodiscard]] Status sync_directory(int directory) override {
    if (auto status = inject_at_sync(directory); !status) return status;
    return inner_->sync_directory(directory);
  }
  [[nodiscard]] Status sync_file_system(int directory) override {
    if (auto status = inject_at_sync(directory); !status) return status;
    return inner_->sync_file_system(directory);
  }

 private:
  /// The one item of `part`, whose turn it is.
  [[nodiscard]] Status go_wrong(MetadataOperation operation, std::span<const MetadataItem> part, bool sync,
                                Meter& meter) {
    const auto perform = [&] { return inner_->perform(operation, part, sync, meter); };
    if (!injector_.mine()) return perform();
    const FaultParameters& parameters = injector_.parameters();
    return faults::go_wrong(
        parameters, perform,
        [&] {
          Status status = perform();
          if (status) faults::flip(injector_, {part.front().data, part.front().bytes});
          return status;
        },
        [&](int errno_value) -> Status {
          return fail(faults::injected(errno_value, parameters.operation, path_of(part.front())));
        });
  }

  [[nodiscard]] Status inject_at_sync(int directory) {
    return faults::inject_fault(injector_, FaultOperation::sync, folder_ + directories_[directory]);
  }

  [[nodiscard]] std::string path_of(const MetadataItem& item) {
    return folder_ + directories_[item.directory] + "/" + item.name;
  }

  std::unique_ptr<MetadataApi> inner_;
  FaultInjector& injector_;
  std::string folder_;
  std::map<int, std::string> directories_;  // those entered, by handle
};

}  // namespace ullage
