// SPDX-License-Identifier: Apache-2.0
#include "storage/backends/hdf5_words.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace ullage {
namespace {

std::string known_word(int number, std::span<const char* const> words) {
  const bool known = number >= 0 && number < static_cast<int>(words.size());
  return known ? words[static_cast<std::size_t>(number)] : std::to_string(number);
}

}  // namespace

std::string hdf5_mode_text(int mode) {
  constexpr std::array words{"none", "chunk independent", "chunk collective", "chunk mixed", "contiguous collective"};
  return known_word(mode, words);
}

std::string hdf5_cause_text(std::uint32_t causes) {
  constexpr std::array words{"independent requested",      "datatype conversion", "data transform",
                             "MPI types are switched off", "dataspace",           "layout"};
  std::string text;
  for (std::size_t bit = 0; bit < words.size(); ++bit)
    if ((causes >> bit & 1U) != 0) text += (text.empty() ? "" : ", ") + std::string(words[bit]);
  return text.empty() ? std::to_string(causes) : text;
}

std::string hdf5_layout_text(int layout) {
  constexpr std::array words{"compact", "contiguous", "chunked", "virtual"};
  return known_word(layout, words);
}

std::string hdf5_fill_text(int when) {
  constexpr std::array words{"when allocated", "never", "if set"};
  return known_word(when, words);
}

std::string hdf5_allocation_text(int when) {
  constexpr std::array words{"default", "early", "late", "incremental"};
  return known_word(when, words);
}

std::string hdf5_format_text(int lowest) {
  constexpr std::array words{"earliest", "1.8", "1.10", "1.12", "1.14"};
  return known_word(lowest, words);
}

}  // namespace ullage
