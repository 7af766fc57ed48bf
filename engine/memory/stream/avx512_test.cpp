// SPDX-License-Identifier: Apache-2.0
#include "memory/stream/test_support.hpp"

namespace ullage::stream_avx512_test {

TEST(StreamAvx512, ResultsAreThoseOfThatManyPasses) {
  if (test::stream_loops_of("avx512") == nullptr) GTEST_SKIP() << "this CPU has no such instructions";
  test::expect_right_results(*test::stream_loops_of("avx512"));
}

TEST(StreamAvx512, BlocksAreVisitedInTheirOrder) {
  if (test::stream_loops_of("avx512") == nullptr) GTEST_SKIP() << "this CPU has no such instructions";
  test::expect_blocks_in_order(*test::stream_loops_of("avx512"));
}

TEST(StreamAvx512, AllButReadHaveBothStores) {
  if (test::stream_loops_of("avx512") == nullptr) GTEST_SKIP() << "this CPU has no such instructions";
  test::expect_all_stores(*test::stream_loops_of("avx512"));
}

}  // namespace ullage::stream_avx512_test
