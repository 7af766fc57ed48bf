// SPDX-License-Identifier: Apache-2.0
// What the engine says of itself: the front end knows no name by heart.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.hpp"

namespace ullage {

/// The describe document; with a name, only what is called so (error when nothing is).
[[nodiscard]] Result<nlohmann::json> describe(const std::string& name = "");
/// Version, compiler, flags and MPI of this binary.
[[nodiscard]] nlohmann::json describe_build();

}  // namespace ullage
