// SPDX-License-Identifier: Apache-2.0
// What nearly every file uses of the standard library, in place of `import std`, which g++ 12 does not have.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
