// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ullage {

/// Time in ns of a fixed chain of dependent integer operations, the shortest of three, about 30 us in all: what it
/// changes by, the core's clock has changed by.
[[nodiscard]] std::int64_t clock_chain_ns();

}  // namespace ullage
