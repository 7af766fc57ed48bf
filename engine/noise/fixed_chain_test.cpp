// SPDX-License-Identifier: Apache-2.0
#include "noise/fixed_chain.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "base/clock.hpp"
#include "base/clock_rate.hpp"

namespace ullage::fixed_chain_test {

std::int64_t shortest_ns(std::uint64_t blocks) {
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 20; ++i) {
    const std::int64_t begun = now_ns();
    run_chain(blocks);
    shortest = std::min(shortest, now_ns() - begun);
  }
  return shortest;
}

TEST(FixedChain, IsNotTakenTogetherByCompilerOrProcessor) {
  const std::uint64_t blocks = blocks_that_last(100'000);
  double one = 0;
  double four = 0;
  // The clock of a busy machine may rise between the two: what is taken together is so every time.
  for (int tries = 0; tries < 20 && four <= 2.5 * one; ++tries) {
    one = static_cast<double>(shortest_ns(blocks));
    four = static_cast<double>(shortest_ns(4 * blocks));
  }
  EXPECT_GT(four / one, 2.5);
  double hz = 0;  // the most of some readings: one that is interrupted tells less
  for (int i = 0; i < 20; ++i) hz = std::max(hz, read_clock_rate().add_hz);
  if (cycles_a_block() == 0 || hz == 0) GTEST_SKIP() << "cycles of the chain are not known on this processor";
  const double by_cycles = static_cast<double>(4 * blocks) * cycles_a_block() / hz * 1e9;
  EXPECT_GT(four / by_cycles, 0.5);  // less would be more than a link a cycle
}

TEST(FixedChain, SomethingIsAlwaysDone) { EXPECT_EQ(blocks_that_last(0), 1U); }

TEST(ChainPieces, HaveAllBlocksWhateverTheirNumber) {
  for (const std::uint64_t blocks : {1U, 7U, 1000U}) {
    for (const std::uint64_t pieces : {1U, 3U, 9U}) {
      const ChainPieces chain(blocks, pieces);
      EXPECT_EQ(chain.blocks(), std::max(blocks, pieces)) << "one block a piece at least";
      EXPECT_EQ(chain.pieces().size(), pieces);
      EXPECT_EQ(std::accumulate(chain.pieces().begin(), chain.pieces().end(), std::uint64_t{0}), chain.blocks());
      std::uint64_t calls = 0;
      chain.run([&] { ++calls; });
      EXPECT_EQ(calls, pieces - 1);
    }
  }
}

TEST(ChainPieces, OfNothingDoNothing) {
  std::uint64_t calls = 0;
  const ChainPieces none;
  none.run();
  none.run([&] { ++calls; });
  EXPECT_EQ(none.blocks() + calls, 0U);
}

}  // namespace ullage::fixed_chain_test
