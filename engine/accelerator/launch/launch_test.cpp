// SPDX-License-Identifier: Apache-2.0
// Workload `device-launch` as a plan has it, on any device.
#include <gtest/gtest.h>

#include "accelerator/test_support.hpp"

namespace ullage::accelerator {
namespace {

class DeviceLaunchWorkload : public test::AnyDevice {};
INSTANTIATE_TEST_SUITE_P(Library, DeviceLaunchWorkload, test::of_each_library);

TEST_P(DeviceLaunchWorkload, LaunchesAreCounted) {
  for (const std::string waits : {"each", "last"}) {
    ASSERT_EQ(run("device-launch", on_it({{"wait", waits}})), PhaseStatus::ok) << waits << record_.dump();
    EXPECT_GE(gauge("launches"), 2);
    EXPECT_EQ(gauge("limit"), 0);
  }
}

TEST_P(DeviceLaunchWorkload, WrongCountIsFound) {
  const test::Fault fault("flip");
  const bool is_fake = std::string(GetParam()) == "cuda:0";
  EXPECT_EQ(run("device-launch", on_it({})), is_fake ? PhaseStatus::failed : PhaseStatus::ok);
}

}  // namespace
}  // namespace ullage::accelerator
