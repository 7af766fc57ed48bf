// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "storage/workloads/pio/pattern.hpp"

namespace ullage {

/// Says who owns which bytes, by the pattern's own formula with few ranks and requests: for each of the ranks its
/// pieces in the order in which it moves them, each as where it begins and how long it is, in requests.
[[nodiscard]] nlohmann::json picture_of(const PioShape& shape);

}  // namespace ullage
