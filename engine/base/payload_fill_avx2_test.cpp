// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/isa.hpp"
#include "base/payload_fill.hpp"

namespace ullage::payload_fill_avx2_test {

/// What it makes is compared in payload_fill_test.cpp, with that of every other way.
TEST(PayloadFillAvx2, WorksWhereTheCpuHasItsVectors) {
  const PayloadFill* here = Registry<PayloadFill>::instance().find("avx2");
#if defined(__x86_64__)
  ASSERT_NE(here, nullptr);
  EXPECT_EQ(here->vector_bytes, 32U);
  EXPECT_EQ(here->works_here(), cpu_has(features::avx2));
#else
  EXPECT_EQ(here, nullptr);
#endif
}

}  // namespace ullage::payload_fill_avx2_test
