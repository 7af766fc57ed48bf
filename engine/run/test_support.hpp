// SPDX-License-Identifier: Apache-2.0
// What the tests of whole repetitions and launches share. Included by tests only.
#pragma once

#include <csignal>

#include "base/signals.hpp"
#include "storage/test_support.hpp"

namespace ullage::test {

/// A temporary folder of rank 0 that all ranks know. Collective, also the end.
class SharedFolder final : Pinned {
 public:
  explicit SharedFolder(const mpi::World& world) : world_(world) {
    if (world.root()) folder_ = std::make_unique<TempFolder>();
    path_ = world.all().broadcast(folder_ ? folder_->path() : std::string(), 0);
  }
  ~SharedFolder() { world_.all().barrier(); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  const mpi::World& world_;
  std::unique_ptr<TempFolder> folder_;
  std::string path_;
};

/// The dispositions of the stop signals as they were, once the test is over.
class KeptSignals final : Pinned {
 public:
  KeptSignals() {
    for (std::size_t i = 0; i < numbers.size(); ++i) sigaction(numbers[i], nullptr, &before_[i]);
    StopFlags::instance().reset();
  }
  ~KeptSignals() {
    for (std::size_t i = 0; i < numbers.size(); ++i) sigaction(numbers[i], &before_[i], nullptr);
    StopFlags::instance().reset();
  }

 private:
  static constexpr std::array<int, 2> numbers{SIGTERM, SIGINT};
  std::array<struct sigaction, 2> before_{};
};

/// A small transfer on a backend; `extra` are further parameters of the workload.
inline Json small_case(const std::string& id, const std::string& target, const std::string& backend,
                       const Json& extra = Json::object()) {
  Json parameters{{"transfer_bytes", 4096}, {"block_bytes", 65536}};
  if (backend == "null") parameters["verify"] = "none";
  parameters.update(extra);
  return {{"id", id},
          {"target", target},
          {"backend", {{"name", backend}, {"parameters", Json::object()}}},
          {"workload", {{"name", "transfer"}, {"parameters", parameters}}}};
}

/// A plan for this launch: target `disk` is `<folder>/target`, `nowhere` holds nothing; two repetitions of each case.
inline Json small_plan(const mpi::World& world, const std::string& folder, const std::vector<Json>& cases) {
  return {{"schema", "ullage.plan/1"},
          {"run_id", "r1"},
          {"suite", "test"},
          {"records", folder + "/records.ndjson"},
          {"seed", 7},
          {"layout", {{"ranks", world.size()}}},
          {"targets",
           {{{"name", "disk"}, {"uri", "posix:" + folder + "/target"}}, {{"name", "nowhere"}, {"uri", "null:"}}}},
          {"stop_rule", {{"name", "fixed"}, {"parameters", {{"count", 2}}}}},
          {"limits", {{"reserve_bytes", 0}, {"space_fraction", 1}}},
          {"cases", cases}};
}

}  // namespace ullage::test
