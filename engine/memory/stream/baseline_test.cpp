// SPDX-License-Identifier: Apache-2.0
#include "memory/stream/test_support.hpp"

namespace ullage::stream_baseline_test {

TEST(StreamBaseline, ResultsAreThoseOfThatManyPasses) {
  test::expect_right_results(*test::stream_loops_of("baseline"));
}

TEST(StreamBaseline, BlocksAreVisitedInTheirOrder) { test::expect_blocks_in_order(*test::stream_loops_of("baseline")); }

TEST(StreamBaseline, AllButReadHaveBothStores) {
#if defined(__x86_64__) || defined(__aarch64__)
  test::expect_all_stores(*test::stream_loops_of("baseline"));
#else
  EXPECT_EQ(test::stream_loops_of("baseline")->loop(StreamKind::write, Stores::non_temporal), nullptr);
#endif
}

}  // namespace ullage::stream_baseline_test
