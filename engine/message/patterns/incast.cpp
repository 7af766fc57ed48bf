// SPDX-License-Identifier: Apache-2.0
#include "message/patterns/incast.hpp"

#include <utility>

namespace ullage {

Pattern incast(int ranks) {
  Links links{ranks, {}};
  for (int rank = 1; rank < ranks; ++rank) links.links.push_back({rank, 0});
  return {"incast", {}, std::move(links)};
}

Pattern outcast(int ranks) {
  Links links{ranks, {}};
  for (int rank = 1; rank < ranks; ++rank) links.links.push_back({0, rank});
  return {"outcast", {}, std::move(links)};
}

}  // namespace ullage
