// SPDX-License-Identifier: Apache-2.0
#include "probes/target_counters.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::target_counters_test {
namespace {

TEST(TargetCounters, LustreNames) {
  EXPECT_EQ(lustre_name("10.0.0.1@o2ib:10.0.0.2@o2ib:/scratch"), "scratch");
  EXPECT_EQ(lustre_name("mgs@tcp:/scratch/sub/dir"), "scratch");
  EXPECT_EQ(lustre_name("/dev/sda"), "");
  EXPECT_EQ(lustre_name(""), "");
}

TEST(TargetCounters, DeviceOrTheReasonWhyNot) {
  const test::TempFolder folder;
  const auto counters = TargetCounters::of_folder(folder.path());
  EXPECT_EQ(counters.device().has_value(), counters.device_reason().empty()) << counters.device_reason();
}

TEST(TargetCounters, MemoryAndMissingFoldersHaveNoDevice) {
  for (const char* path : {"/proc", "/no/such/folder"}) {
    const auto counters = TargetCounters::of_folder(path);
    EXPECT_FALSE(counters.device());
    EXPECT_FALSE(counters.client());
    EXPECT_FALSE(counters.device_reason().empty());
  }
}

}  // namespace
}  // namespace ullage::target_counters_test
