// SPDX-License-Identifier: Apache-2.0
// Reading the kernel's small texts. All of them may be missing, cut short or of another version: nothing is ever
// assumed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ullage {

/// The whole file; nothing when it cannot be read.
[[nodiscard]] std::optional<std::string> read_text(const std::string& path);
/// Its first line without blanks at the ends; nothing when it cannot be read or is empty.
[[nodiscard]] std::optional<std::string> read_word(const std::string& path);

[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);
/// Separated by blanks and tabs.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view line);
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// Resolves the kernel's \ooo, which stand for blanks and backslashes in names.
[[nodiscard]] std::string unescaped(std::string_view text);

/// A whole word of decimal digits.
[[nodiscard]] std::optional<std::uint64_t> number_of(std::string_view word);
/// Word `index` of a line as a number.
[[nodiscard]] std::optional<std::uint64_t> number_at(const std::vector<std::string_view>& words, std::size_t index);
/// The number behind a key in a text of lines "key: value" or "key value"; what follows it ("kB") is left out.
[[nodiscard]] std::optional<std::uint64_t> number_of_key(std::string_view text, std::string_view key);

}  // namespace ullage
