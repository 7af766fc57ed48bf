// SPDX-License-Identifier: Apache-2.0
// One repetition of workload `loader` on a target of the tests. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include "storage/workloads/loader/loader.hpp"
#include "storage/workloads/test_support.hpp"

namespace ullage::loader_test {

inline const WorkloadEntry& entry() { return *Registry<WorkloadEntry>::instance().find("loader"); }
inline Value words(const char* word) { return std::string(word); }
inline Value number(std::int64_t count) { return count; }

/// 100 samples of about 5000 bytes, at no pace.
inline Values values_of(Values given) {
  given.emplace("samples", number(100));
  given.emplace("sample_bytes", number(5000));
  given.emplace("deviation_bytes", number(1000));
  given.emplace("step_s", 0.0);
  given.emplace("threads", number(2));
  given.emplace("transfer_bytes", number(4096));
  const auto values = complete(entry().description.parameters, given, "");
  EXPECT_TRUE(values.has_value()) << test::line_of(values);
  return values.value_or(Values{});
}

class OneRepetition : public test::StorageWorkloadTest {
 protected:
  OneRepetition() : StorageWorkloadTest("00000000000000b1") { use("posix"); }

  [[nodiscard]] StorageContext context() {
    StorageContext bound = StorageWorkloadTest::context();
    bound.dataset = dataset_;
    bound.datasets = &book_;
    bound.target = "t";
    return bound;
  }

  /// Collective. Runs all phases, with `before(i)` on rank 0 before phase i.
  Json run(const Values& given, const test::BeforePhase& before = [](std::size_t) {}) {
    const auto workload = std::get<StorageWork>(entry().work).make(values_of(given), context());
    return run_phases(*workload, [&](std::size_t phase) {
      if (world().root()) before(phase);
    });
  }

  [[nodiscard]] std::string file_path(const std::string& name) const {
    return dataset_.empty() ? in_dataset(name) : bench_.path(dataset_ + "/" + name);
  }

  std::string dataset_;
  DatasetFacts book_;
};

}  // namespace ullage::loader_test
