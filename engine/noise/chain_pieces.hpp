// SPDX-License-Identifier: Apache-2.0
// A computation of fixed work in pieces, between which somebody may look after what goes on beside it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "noise/fixed_chain.hpp"

namespace ullage {

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
