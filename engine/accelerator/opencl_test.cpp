// SPDX-License-Identifier: Apache-2.0
// Libraries that have no devices of OpenCL; what it does with devices, device_test.cpp asks.
#include <gtest/gtest.h>

#include "accelerator/device.hpp"

namespace ullage::accelerator {
namespace {

TEST(OpenClLibrary, OneThatIsNotThereIsOneLine) {
  const auto none = opencl_devices("libullage-no-opencl.so.1");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().text, "libullage-no-opencl.so.1 is not there");
}

TEST(OpenClLibrary, AnotherLibraryIsRefused) {
  const auto none = opencl_devices("libm.so.6");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().text, "libm.so.6 has no clGetPlatformIDs: it is older than 1.2");
}

}  // namespace
}  // namespace ullage::accelerator
