// SPDX-License-Identifier: Apache-2.0
#include "storage/backends/hdf5_words.hpp"

#include <array>
#include <cstddef>

namespace ullage {

std::string hdf5_mode_text(int mode) {
  constexpr std::array words{"none", "chunk independent", "chunk collective", "chunk mixed", "contiguous collective"};
  const bool known = mode >= 0 && mode < static_cast<int>(words.size());
  return known ? words[static_cast<std::size_t>(mode)] : std::to_string(mode);
}

std::string hdf5_cause_text(std::uint32_t causes) {
  constexpr std::array words{"independent requested",      "datatype conversion", "data transform",
                             "MPI types are switched off", "dataspace",           "layout"};
  std::string text;
  for (std::size_t bit = 0; bit < words.size(); ++bit)
    if ((causes >> bit & 1U) != 0) text += (text.empty() ? "" : ", ") + std::string(words[bit]);
  return text.empty() ? std::to_string(causes) : text;
}

}  // namespace ullage
