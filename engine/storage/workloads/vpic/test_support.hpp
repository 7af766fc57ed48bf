// SPDX-License-Identifier: Apache-2.0
// One repetition of workload `vpic` on a target of the tests. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include "storage/workloads/test_support.hpp"
#include "storage/workloads/vpic/vpic.hpp"

namespace ullage::vpic_test {

class OneVpic : public test::StorageWorkloadTest {
 protected:
  OneVpic() : StorageWorkloadTest("00000000000000f2") {}

  [[nodiscard]] static const WorkloadEntry& entry() { return *Registry<WorkloadEntry>::instance().find("vpic"); }

  void use(const std::string& backend, const Values& given = {}) {
    StorageWorkloadTest::use(backend, given);
    format_ = backend_->capabilities().arrays ? "arrays" : "raw";
  }

  /// Collective. Runs all phases, with `between` on every rank before the second.
  Json run(Values given, const std::function<void()>& between = [] {}) {
    given.emplace("particles", 1500);
    given.emplace("steps", 3);
    given.emplace("format", format_);
    const auto values = complete(entry().description.parameters, given, "");
    EXPECT_TRUE(values.has_value()) << test::line_of(values);
    Json records =
        run_phases(*std::get<StorageWork>(entry().work).make(*values, context()), test::before_second(between));
    EXPECT_TRUE(begun_.has_value()) << test::line_of(begun_);
    return records;
  }

  [[nodiscard]] std::string file() const { return in_dataset("data"); }

  std::string format_ = "raw";
};

}  // namespace ullage::vpic_test
