// SPDX-License-Identifier: Apache-2.0
// Workload `device-compute` as a plan has it, on any device.
#include <gtest/gtest.h>

#include "accelerator/test_support.hpp"

namespace ullage::accelerator {
namespace {

class DeviceComputeWorkload : public test::AnyDevice {};
INSTANTIATE_TEST_SUITE_P(Library, DeviceComputeWorkload, test::of_each_library);

TEST_P(DeviceComputeWorkload, EachTypeIsRightAndCountsItsOperations) {
  for (const std::string type : {"fp64", "fp32"}) {
    ASSERT_EQ(run("device-compute", on_it({{"type", type}, {"rounds", std::int64_t{3}}})), PhaseStatus::ok)
        << type << record_.dump();
    const auto a_launch = static_cast<double>(device().facts().units * 2048 * 3 * 128 * 2);
    EXPECT_GE(gauge("device_operations"), 2 * a_launch);
    EXPECT_EQ(std::fmod(gauge("device_operations"), a_launch), 0);
  }
}

TEST_P(DeviceComputeWorkload, WrongSumIsFound) {
  const test::Fault fault("flip");
  const bool is_fake = std::string(GetParam()) == "cuda:0";
  const Values given{{"rounds", std::int64_t{1}}};
  EXPECT_EQ(run("device-compute", on_it(given)), is_fake ? PhaseStatus::failed : PhaseStatus::ok);
}

}  // namespace
}  // namespace ullage::accelerator
