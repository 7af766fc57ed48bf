// SPDX-License-Identifier: Apache-2.0
// What backend `fault` does to a call that is to go wrong, whatever kind of file it is of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"
#include "storage/fault_injector.hpp"
#include "storage/viewed_file.hpp"

namespace ullage::faults {

void sleep_for(double seconds);
/// Until the process is ended.
[[noreturn]] void hang();

[[nodiscard]] Error injected(int errno_value, FaultOperation operation, const std::string& where,
                             std::optional<std::uint64_t> offset_bytes = {});

/// What one call of anything but a transfer suffers: the delay, or the error.
[[nodiscard]] Status suffer(FaultInjector& injector, FaultOperation operation, const std::string& where);

[[nodiscard]] FaultOperation operation_of(Direction direction);

/// One bit of data, the chosen one modulo their length.
void flip(const FaultInjector& injector, std::span<std::byte> data);

}  // namespace ullage::faults
