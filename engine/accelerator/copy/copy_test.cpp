// SPDX-License-Identifier: Apache-2.0
// Workload `device-copy` as a plan has it, on any device.
#include <gtest/gtest.h>

#include "accelerator/test_support.hpp"

namespace ullage::accelerator {
namespace {

class DeviceCopyWorkload : public test::AnyDevice {};
INSTANTIATE_TEST_SUITE_P(Library, DeviceCopyWorkload, test::of_each_library);

TEST_P(DeviceCopyWorkload, EachWayIsRightAndCountsItsBytes) {
  for (const std::string direction : {"to-device", "to-host"})
    for (const std::string memory : {"pinned", "pageable"}) {
      const Values given{{"direction", direction}, {"host_memory", memory}, {"size_bytes", std::int64_t{100'001}}};
      ASSERT_EQ(run("device-copy", on_it(given)), PhaseStatus::ok) << direction << memory << record_.dump();
      EXPECT_EQ(gauge("device_bytes"), record_["bytes"].get<double>());
      EXPECT_GE(gauge("device_bytes"), 2 * 100'001);
    }
}

TEST_P(DeviceCopyWorkload, WrongByteIsFound) {
  const test::Fault fault("flip");
  const bool is_fake = std::string(GetParam()) == "cuda:0";
  for (const std::string direction : {"to-device", "to-host"}) {
    const Values given{{"direction", direction}, {"size_bytes", std::int64_t{4096}}};
    EXPECT_EQ(run("device-copy", on_it(given)), is_fake ? PhaseStatus::failed : PhaseStatus::ok) << direction;
  }
}

TEST_P(DeviceCopyWorkload, MoreThanTheDeviceHasFails) {
  EXPECT_EQ(run("device-copy", on_it({{"size_bytes", std::int64_t{1} << 38U}})), PhaseStatus::failed);
}

}  // namespace
}  // namespace ullage::accelerator
