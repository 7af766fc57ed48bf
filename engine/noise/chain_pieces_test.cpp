// SPDX-License-Identifier: Apache-2.0
#include "noise/chain_pieces.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace ullage::chain_pieces_test {
namespace {

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

}  // namespace
}  // namespace ullage::chain_pieces_test
