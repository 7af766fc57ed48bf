// SPDX-License-Identifier: Apache-2.0
#include "message/patterns/bisection.hpp"

#include "message/patterns/rank_order.hpp"

namespace ullage {

Pattern best_bisection(int ranks) { return {"best-bisection", {}, Pairs{ranks / 2}}; }

Pattern worst_bisection(int ranks) {
  const int pairs = ranks / 2;
  return {"worst-bisection", folded_order(2 * pairs), Pairs{pairs}};
}

Pattern first_pair() { return {"ping-pong", {}, Pairs{1}}; }

}  // namespace ullage
