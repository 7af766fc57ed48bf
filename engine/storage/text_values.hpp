// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/parameters.hpp"

namespace ullage {

/// Parameters that stand as text inside a map: true or false, numbers in the parameter's own unit, words, lists with
/// commas, maps as name=value with commas. Unknown names are passed on as text for `complete` to refuse. `pointer` is
/// the map's.
[[nodiscard]] Result<Values> values_from_text(const std::vector<ParameterSpec>& specs, const Map& texts,
                                              const std::string& pointer);

}  // namespace ullage
