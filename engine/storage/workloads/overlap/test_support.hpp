// SPDX-License-Identifier: Apache-2.0
// One repetition of workload `overlap` on a target of the tests. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include "storage/workloads/overlap/overlap.hpp"
#include "storage/workloads/test_support.hpp"

namespace ullage::overlap_test {

inline const WorkloadEntry& entry() { return *Registry<WorkloadEntry>::instance().find("overlap"); }
inline Value number(std::int64_t count) { return count; }
inline Value words(const char* word) { return std::string(word); }

/// Few and small stretches, and a computation that takes next to nothing.
inline Values values_of(Values given) {
  given.emplace("transfer_bytes", number(4096));
  given.emplace("depth", number(2));
  given.emplace("batches", number(3));
  given.emplace("rounds", number(2));
  given.emplace("blocks", number(100));
  const auto values = complete(entry().description.parameters, given, "");
  EXPECT_TRUE(values.has_value()) << test::line_of(values);
  return values.value_or(Values{});
}

inline OverlapParameters parameters_of(const Values& given) {
  return bind_parameters<OverlapParameters>(values_of(given));
}

class OneRepetition : public test::StorageWorkloadTest {
 protected:
  OneRepetition() : StorageWorkloadTest("00000000000000c3") { use("posix"); }

  /// On another target.
  void use_at(const std::string& target, const std::string& backend) {
    backend_.reset();
    bench_.move_to(target);
    use(backend);
  }

  [[nodiscard]] std::unique_ptr<Workload> make(const Values& given) {
    return std::get<StorageWork>(entry().work).make(values_of(given), context());
  }
  /// Collective. Runs all phases, with `between` on every rank before the second.
  Json run(const Values& given, const std::function<void()>& between = [] {}) {
    return run_phases(*make(given), test::before_second(between));
  }

  [[nodiscard]] int ranks() const { return world().size(); }
  [[nodiscard]] std::string file_of(int rank) const {
    DatasetEntry dataset;
    dataset.directory = directory_of_dataset(id());
    dataset.per_process = true;
    return bench_.path(dataset.file_name(static_cast<std::uint64_t>(rank)));
  }
};

}  // namespace ullage::overlap_test
