// SPDX-License-Identifier: Apache-2.0
#include "memory/stream/test_support.hpp"

namespace ullage::stream_avx2_test {
namespace {

TEST(StreamAvx2, ResultsAreThoseOfThatManyPasses) {
  if (stream_loops_avx2() == nullptr) GTEST_SKIP() << "this CPU has no such instructions";
  test::expect_right_results(*stream_loops_avx2());
}

TEST(StreamAvx2, BlocksAreVisitedInTheirOrder) {
  if (stream_loops_avx2() == nullptr) GTEST_SKIP() << "this CPU has no such instructions";
  test::expect_blocks_in_order(*stream_loops_avx2());
}

TEST(StreamAvx2, AllButReadHaveBothStores) {
  if (stream_loops_avx2() == nullptr) GTEST_SKIP() << "this CPU has no such instructions";
  test::expect_all_stores(*stream_loops_avx2());
}

}  // namespace
}  // namespace ullage::stream_avx2_test
