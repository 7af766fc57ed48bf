// SPDX-License-Identifier: Apache-2.0
// What the tests of patterns share. Included by tests only.
#pragma once

#include "message/patterns/pattern.hpp"

namespace ullage::test {

/// Counts the messages of all ranks in an iteration, each once.
inline std::uint64_t messages_of(const Pattern& pattern) {
  std::uint64_t messages = 0;
  for (int place = 0; place < places_of(pattern); ++place) messages += sends_of(steps_at(pattern, place));
  return messages;
}

}  // namespace ullage::test
