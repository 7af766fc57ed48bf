// SPDX-License-Identifier: Apache-2.0
#include "probes/text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>

#include "storage/descriptor.hpp"

namespace ullage {
namespace {

constexpr std::string_view blanks = " \t\r\n";

}  // namespace

std::optional<std::string> read_text(const std::string& path) {
  // Not a stream: its buffers would double what a kernel file costs, and these are read around every phase.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  constexpr std::size_t step = 4096;
  std::string text;
  for (;;) {
    const std::size_t had = text.size();
    text.resize(had + step);
    const ssize_t got = ::read(file.get(), text.data() + had, step);
    if (got < 0) return std::nullopt;
    text.resize(had + static_cast<std::size_t>(got));
    if (got == 0) return text;
  }
}

std::optional<std::string> read_word(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return std::nullopt;
  const std::string_view word = trimmed(std::string_view(*text).substr(0, text->find('\n')));
  return word.empty() ? std::nullopt : std::optional<std::string>(word);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    words.push_back(line.substr(0, line.find_first_of(blanks)));
    line.remove_prefix(words.back().size());
  }
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string unescaped(std::string_view text) {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && octal(text[i + 1]) && octal(text[i + 2]) && octal(text[i + 3])) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::optional<std::uint64_t> number_of(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> number_at(const std::vector<std::string_view>& words, std::size_t index) {
  return index < words.size() ? number_of(words[index]) : std::nullopt;
}

std::optional<std::uint64_t> number_of_key(std::string_view text, std::string_view key) {
  for (const std::string_view line : lines_of(text)) {
    const auto words = words_of(line);
    if (words.empty()) continue;
    std::string_view name = words[0];
    if (name.ends_with(':')) name.remove_suffix(1);
    if (name == key) return number_at(words, 1);
  }
  return std::nullopt;
}

}  // namespace ullage
