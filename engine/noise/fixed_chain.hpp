// SPDX-License-Identifier: Apache-2.0
// Work that takes the same number of cycles each time, whatever else the core's caches and ports are busy with.
#pragma once

#include "base/std.hpp"

namespace ullage {

constexpr int links_a_block = 16;

/// Cycles of a block of the chain; 0: not known on this processor, where it is still the same work each time.
[[nodiscard]] double cycles_a_block();

/// A chain of `blocks` times `links_a_block` additions, each of which waits for the one before it.
void run_chain(std::uint64_t blocks);

/// Blocks that last `ns` at the clock this core runs at just now; at least 1. Takes some ms.
[[nodiscard]] std::uint64_t blocks_that_last(double ns);

// A computation of fixed work in pieces, between which somebody may look after what goes on beside it.

class ChainPieces final {
 public:
  ChainPieces() = default;
  /// `blocks` of the chain, one at least for each of `pieces` >= 1; the last piece has what does not divide.
  ChainPieces(std::uint64_t blocks, std::uint64_t pieces)
      : blocks_(std::max(blocks, pieces)), pieces_(pieces, blocks_ / pieces) {
    pieces_.back() += blocks_ % pieces;
  }

  [[nodiscard]] std::uint64_t blocks() const noexcept { return blocks_; }
  [[nodiscard]] const std::vector<std::uint64_t>& pieces() const noexcept { return pieces_; }

  void run() const {
    for (const std::uint64_t blocks : pieces_) run_chain(blocks);
  }
  /// `between()` is called after each piece but the last.
  template <class Between>
  void run(const Between& between) const {
    for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
      run_chain(pieces_[piece]);
      if (piece + 1 < pieces_.size()) between();
    }
  }

 private:
  std::uint64_t blocks_ = 0;
  std::vector<std::uint64_t> pieces_;
};

}  // namespace ullage
