// SPDX-License-Identifier: Apache-2.0
// How ScaLAPACK deals a matrix out to processes: blocks of rows and columns in turn (its Users' Guide, section 4.3).
#pragma once

#include <cstdint>

namespace ullage {

struct GridShape {
  int rows = 1;
  int columns = 1;
  friend bool operator==(const GridShape&, const GridShape&) = default;
};

/// `rows` of processes, 0: as square as `ranks` allow and wider than high, as HPL's guide advises. `rows` divides
/// `ranks`.
[[nodiscard]] GridShape grid_shape(int ranks, int rows);

/// Says which of `total` indices, dealt out in blocks of `block` to `processes`, process `me` has.
class BlockCyclic final {
 public:
  BlockCyclic(int total, int block, int processes, int me)
      : total_(total), block_(block), processes_(processes), me_(me) {}
  /// Returns how many.
  [[nodiscard]] int count() const;
  /// The `local`-th of them, counted from 0.
  [[nodiscard]] int global(int local) const { return (local / block_ * processes_ + me_) * block_ + local % block_; }

 private:
  int total_;
  int block_;
  int processes_;
  int me_;
};

}  // namespace ullage
