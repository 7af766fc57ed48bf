// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace ullage {

/// The ranks and threads a plan was made for.
struct PlannedLayout {
  int ranks = 1;
  std::optional<int> nodes;
  std::optional<int> ranks_per_node;
  int threads = 1;
  std::string binding = "none";
};

}  // namespace ullage
