// SPDX-License-Identifier: Apache-2.0
#include "linear/distributed_solve/process_grid.hpp"

namespace ullage {

GridShape grid_shape(int ranks, int rows) {
  if (rows > 0) return {rows, ranks / rows};
  int best = 1;
  for (int candidate = 1; candidate * candidate <= ranks; ++candidate)
    if (ranks % candidate == 0) best = candidate;
  return {best, ranks / best};
}

int BlockCyclic::count() const {
  const int whole_blocks = total_ / block_;
  const int rounds = whole_blocks / processes_;
  const int extra = whole_blocks % processes_;
  int count = rounds * block_;
  if (me_ < extra) count += block_;
  if (me_ == extra) count += total_ % block_;
  return count;
}

}  // namespace ullage
