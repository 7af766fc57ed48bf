// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/log_index.hpp"

#include <gtest/gtest.h>

namespace ullage::log_index_test {
namespace {

std::vector<std::byte> encoded(const LogIndex& index, std::uint64_t steps, std::size_t alignment = 1) {
  std::vector<std::byte> place(LogIndex::bytes(steps, alignment), std::byte{0xff});
  index.encode(place);
  return place;
}

TEST(LogIndex, ComesBackAsItWas) {
  LogIndex index(100);
  for (std::uint64_t step = 0; step < 99; ++step) index.put(step, 4096 * (98 - step));
  for (const std::size_t alignment : {1U, 512U, 4096U}) {
    const auto place = encoded(index, 100, alignment);
    EXPECT_EQ(place.size() % alignment, 0U);
    const auto found = LogIndex::decode(place, 100);
    ASSERT_TRUE(found.has_value()) << found.error();
    for (std::uint64_t step = 0; step < 99; ++step) EXPECT_EQ(found->offset_of(step), 4096 * (98 - step));
    EXPECT_FALSE(found->has(99)) << "never written";
    EXPECT_FALSE(found->has(100));
  }
}

TEST(LogIndex, EveryDamagedByteIsFound) {
  LogIndex index(5);
  for (std::uint64_t step = 0; step < 5; ++step) index.put(step, step * 1000);
  const auto place = encoded(index, 5);
  for (std::size_t i = 0; i < place.size(); ++i) {
    auto damaged = place;
    damaged[i] ^= std::byte{1};
    EXPECT_FALSE(LogIndex::decode(damaged, 5).has_value()) << i;
  }
}

TEST(LogIndex, SaysWhatIsWrong) {
  const auto place = encoded(LogIndex(5), 5);
  EXPECT_EQ(LogIndex::decode(place, 6).error(), "the index is cut short");
  EXPECT_EQ(LogIndex::decode(place, 4).error(), "the index is of 5 steps, must be of 4");
  EXPECT_EQ(LogIndex::decode(std::vector<std::byte>(place.size()), 5).error(), "the index is of 0 steps, must be of 5");
}

}  // namespace
}  // namespace ullage::log_index_test
