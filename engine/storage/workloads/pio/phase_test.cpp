// SPDX-License-Identifier: Apache-2.0
// What a phase does on files is in pio_test.cpp.
#include "storage/workloads/pio/phase.hpp"

#include <gtest/gtest.h>

namespace ullage::pio_phase_test {

TEST(PioPhase, AChangeIsInEach512BytesAndUndoesItself) {
  std::vector<std::byte> data(1032);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7 % 251);
  const std::vector<std::byte> before = data;
  change_pio_data(data, 0x0101010101010101U);
  for (std::size_t at = 0; at < data.size(); ++at) EXPECT_EQ(data[at] != before[at], at % 512 < 8) << at;
  change_pio_data(data, 0x0101010101010101U);
  EXPECT_EQ(data, before);
}

}  // namespace ullage::pio_phase_test
