// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/flash/parameters.hpp"

#include <gtest/gtest.h>

namespace ullage {
namespace {

TEST(FlashParameters, ArraysNeedABackendThatHasThem) {
  FlashParameters parameters;
  EXPECT_TRUE(check_flash_parameters(parameters, {}, {}, "/p"));
  parameters.format = FlashFormat::arrays;
  EXPECT_EQ(check_flash_parameters(parameters, {}, {}, "/p").error().where, "/p/format");
  EXPECT_TRUE(check_flash_parameters(parameters, {.arrays = true}, {}, "/p"));
}

TEST(FlashParameters, OddRealsAndUnverifiableDataAreRefused) {
  FlashParameters parameters;
  parameters.plot_real_bytes = 5;
  EXPECT_EQ(check_flash_parameters(parameters, {}, {}, "/p").error().where, "/p/plot_real_bytes");
  EXPECT_EQ(check_flash_parameters(FlashParameters{}, {.data = false}, {}, "/p").error().where, "/p/verify");
}

TEST(FlashParameters, NeedTheBytesOfTheFile) {
  PlannedLayout layout;
  layout.ranks = 2;
  const Needs needs = needs_of_flash({}, layout);
  EXPECT_GE(needs.bytes, FlashLayout::header_bytes + 15'853'348U);
  EXPECT_EQ(needs.inodes, 1U);
}

}  // namespace
}  // namespace ullage
