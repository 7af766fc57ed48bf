// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ullage {

/// Returns what /proc/cpuinfo, a text of lines "key : value", says of its first CPU.
[[nodiscard]] std::optional<std::string> cpuinfo_value(std::string_view cpuinfo, std::string_view key);

/// "madvise" of "always [madvise] never".
[[nodiscard]] std::optional<std::string> chosen_word(std::string_view choices);

}  // namespace ullage
