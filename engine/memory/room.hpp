// SPDX-License-Identifier: Apache-2.0
// How much memory there is to have, so that too much is refused with a line instead of ended by the kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/count.hpp"
#include "base/result.hpp"

namespace ullage {

/// Returns what a control group's texts leave of its memory limit: reclaimable file pages count as free. Nothing: no
/// limit.
[[nodiscard]] std::optional<std::uint64_t> parse_cgroup_room(std::string_view limit, std::string_view used,
                                                             std::string_view stat);

/// Bytes a process can still get on this node, by the tightest of MemAvailable and the control groups above it; nothing
/// when the system does not say.
[[nodiscard]] std::optional<std::uint64_t> memory_room();

/// An error at `where` when this node's processes ask for more than `room`, a hundredth of which is left alone.
[[nodiscard]] Status check_room(const std::string& where, Count needed_bytes,
                                std::optional<std::uint64_t> room = memory_room());

}  // namespace ullage
