// SPDX-License-Identifier: Apache-2.0
// Names that are a prefix and numbers, made and read back. Pure.
#pragma once

#include <charconv>
#include <system_error>

#include "base/std.hpp"

namespace ullage {

/// Appends the prefix, and the number as std::to_string() writes it. Allocates nothing where `path` has room.
inline void append_named(std::string& path, std::string_view prefix, std::uint64_t number) {
  std::array<char, std::numeric_limits<std::uint64_t>::digits10 + 1> digits{};
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  path.append(prefix).append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

/// The number that is all of the name behind its prefix, below `end`; written as std::to_string() writes it.
[[nodiscard]] inline std::optional<std::uint64_t> numbered(std::string_view name, std::string_view prefix,
                                                           std::uint64_t end) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = error == std::errc{} && stop == name.data() + name.size();
  if (!whole || (name.front() == '0' && name.size() > 1) || number >= end) return std::nullopt;
  return number;
}

using TwoNumbers = std::pair<std::uint64_t, std::uint64_t>;

/// The two numbers, with a dot in between, that are all of the name behind its prefix, each below its end.
[[nodiscard]] inline std::optional<TwoNumbers> numbered_twice(std::string_view name, std::string_view prefix,
                                                              const TwoNumbers& ends) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto first = numbered(name.substr(0, dot), "", ends.first);
  const auto second = numbered(name.substr(dot + 1), "", ends.second);
  return first && second ? std::optional(TwoNumbers{*first, *second}) : std::nullopt;
}

}  // namespace ullage
