// SPDX-License-Identifier: Apache-2.0
#include "probes/node_facts.hpp"

#include "probes/text.hpp"

namespace ullage {

std::optional<std::string> cpuinfo_value(std::string_view cpuinfo, std::string_view key) {
  for (const std::string_view line : lines_of(cpuinfo)) {
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key)
      return std::string(trimmed(line.substr(colon + 1)));
  }
  return std::nullopt;
}

std::optional<std::string> chosen_word(std::string_view choices) {
  for (const std::string_view word : words_of(choices))
    if (word.size() > 2 && word.starts_with('[') && word.ends_with(']'))
      return std::string(word.substr(1, word.size() - 2));
  return std::nullopt;
}

}  // namespace ullage
