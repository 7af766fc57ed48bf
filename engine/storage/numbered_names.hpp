// SPDX-License-Identifier: Apache-2.0
// Names that are a prefix and numbers, made and read back. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ullage {

/// Appends the prefix, and the number as std::to_string() writes it. Allocates nothing where `path` has room.
void append_named(std::string& path, std::string_view prefix, std::uint64_t number);

/// The number that is all of the name behind its prefix, below `end`; written as std::to_string() writes it.
[[nodiscard]] std::optional<std::uint64_t> numbered(std::string_view name, std::string_view prefix, std::uint64_t end);

using TwoNumbers = std::pair<std::uint64_t, std::uint64_t>;
/// The two numbers, with a dot in between, that are all of the name behind its prefix, each below its end.
[[nodiscard]] std::optional<TwoNumbers> numbered_twice(std::string_view name, std::string_view prefix,
                                                       const TwoNumbers& ends);

}  // namespace ullage
