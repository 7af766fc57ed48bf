// SPDX-License-Identifier: Apache-2.0
#include "base/count.hpp"

#include <gtest/gtest.h>

namespace ullage::rounding_test {

TEST(RoundUp, ToTheNextMultipleAndNotFurther) {
  EXPECT_EQ(round_up(0U, 8U), 0U);
  EXPECT_EQ(round_up(1U, 8U), 8U);
  EXPECT_EQ(round_up(8U, 8U), 8U);
  EXPECT_EQ(round_up(9UL, 4096UL), 4096UL);
}

}  // namespace ullage::rounding_test
