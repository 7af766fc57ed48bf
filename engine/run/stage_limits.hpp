// SPDX-License-Identifier: Apache-2.0
// How long a stage may go without a sign of progress, by what it moves without giving one. Pure but for the memory that
// is asked of this node.
#pragma once

#include <cstdint>

namespace ullage {

/// A whole launch is expected to move to a target at least, in bytes a second: a slower one is a hang.
inline constexpr double slowest_bytes_per_s = 10e6;

/// A rank is expected to fill memory, or to go through it in any order, with so many bytes a second at least.
inline constexpr double slowest_filled_bytes_per_s = 50e6;

/// `least_ns`, or the time that `bytes` of all ranks take at a target.
[[nodiscard]] std::int64_t stage_limit_ns(std::int64_t least_ns, std::uint64_t bytes);

/// `least_ns`, or the time that one rank may compute with `bytes` of memory.
[[nodiscard]] std::int64_t filling_limit_ns(std::int64_t least_ns, std::uint64_t bytes);

/// The limit of a sync or a close after `written_bytes` of each of `ranks`: no more of them is unconfirmed than the
/// memory of all nodes holds.
[[nodiscard]] std::int64_t flush_limit_ns(std::int64_t least_ns, std::uint64_t written_bytes, int ranks,
                                          std::uint64_t memory_bytes);

/// The memory of this node; 0 when the system does not say.
[[nodiscard]] std::uint64_t physical_memory_bytes();

}  // namespace ullage
