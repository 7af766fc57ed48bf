// SPDX-License-Identifier: Apache-2.0
// What is refused; what is stored is tested on the emulated machine of tests/e2e, which has such a device.
#include <gtest/gtest.h>

#include "storage/pmem_library.hpp"
#include "storage/test_support.hpp"

namespace ullage::devdax_test {

TEST(DevdaxBackend, TakesDevicesByTheirPaths) {
  const auto* entry = Registry<BackendEntry>::instance().find("devdax");
  ASSERT_NE(entry, nullptr);
  EXPECT_TRUE(entry->capabilities.memory && entry->capabilities.dax);
  for (const std::string& device : {std::string("dax0.0"), std::string("/tmp/x")}) {
    const auto values = complete(entry->description.parameters, {{"device", device}}, "");
    ASSERT_TRUE(values);
    const auto checked = entry->check(*values, "/parameters");
    ASSERT_FALSE(checked) << device;
    EXPECT_NE(test::line_of(checked).find("/parameters/device: must name a device below /dev"), std::string::npos)
        << test::line_of(checked);
  }
}

TEST(DevdaxBackend, UsesNothingButSuchADevice) {
  if (!pmem_library()) GTEST_SKIP() << test::line_of(pmem_library());
  test::Bench bench;
  const auto backend = bench.try_make("devdax", {{"device", std::string("/dev/zero")}});
  ASSERT_FALSE(backend);
  EXPECT_EQ(test::line_of(backend), "/dev/zero: is no devdax device");
  const auto unnamed = bench.try_make("devdax");
  ASSERT_FALSE(unnamed);
  EXPECT_NE(test::line_of(unnamed).find("no device is used that was not named"), std::string::npos);
}

}  // namespace ullage::devdax_test
