// SPDX-License-Identifier: Apache-2.0
// Shared libraries that are loaded at run time, for functions that an engine can do without.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.hpp"

namespace ullage {

/// Loads the first of `names` that there is; `flags` are those of dlopen. Its address space is asked for before that:
/// a library that has too little of it while it is loaded may wait for ever, OpenBLAS does. Errors, with `kind` as
/// their place: ENOMEM where `room_bytes` of address space are not left; what the dynamic linker says of the first
/// library that is there and cannot be loaded; or that none was found.
[[nodiscard]] Result<void*> load_library(const std::string& kind, std::span<const std::string> names, int flags,
                                         std::uint64_t room_bytes);

/// Address space that a linear algebra library takes while it is loaded: its code, its buffers and a stack for a thread
/// of each processor.
[[nodiscard]] std::uint64_t linear_library_room_bytes();

}  // namespace ullage
