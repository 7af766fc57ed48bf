// SPDX-License-Identifier: Apache-2.0
#include "memory/stream/test_support.hpp"

namespace ullage::stream_avx512_test {
namespace {

TEST(StreamAvx512, ResultsAreThoseOfThatManyPasses) {
  if (stream_loops_avx512() == nullptr) GTEST_SKIP() << "this CPU has no such instructions";
  test::expect_right_results(*stream_loops_avx512());
}

TEST(StreamAvx512, BlocksAreVisitedInTheirOrder) {
  if (stream_loops_avx512() == nullptr) GTEST_SKIP() << "this CPU has no such instructions";
  test::expect_blocks_in_order(*stream_loops_avx512());
}

TEST(StreamAvx512, AllButReadHaveBothStores) {
  if (stream_loops_avx512() == nullptr) GTEST_SKIP() << "this CPU has no such instructions";
  test::expect_all_stores(*stream_loops_avx512());
}

}  // namespace
}  // namespace ullage::stream_avx512_test
