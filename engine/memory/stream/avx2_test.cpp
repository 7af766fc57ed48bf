// SPDX-License-Identifier: Apache-2.0
#include "memory/stream/test_support.hpp"

namespace ullage::stream_avx2_test {

TEST(StreamAvx2, ResultsAreThoseOfThatManyPasses) {
  if (test::stream_loops_of("avx2") == nullptr) GTEST_SKIP() << "this CPU has no such instructions";
  test::expect_right_results(*test::stream_loops_of("avx2"));
}

TEST(StreamAvx2, BlocksAreVisitedInTheirOrder) {
  if (test::stream_loops_of("avx2") == nullptr) GTEST_SKIP() << "this CPU has no such instructions";
  test::expect_blocks_in_order(*test::stream_loops_of("avx2"));
}

TEST(StreamAvx2, AllButReadHaveBothStores) {
  if (test::stream_loops_of("avx2") == nullptr) GTEST_SKIP() << "this CPU has no such instructions";
  test::expect_all_stores(*test::stream_loops_of("avx2"));
}

}  // namespace ullage::stream_avx2_test
