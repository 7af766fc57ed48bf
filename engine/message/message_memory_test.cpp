// SPDX-License-Identifier: Apache-2.0
#include "message/message_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace ullage::message_memory_test {

constexpr std::size_t large = (std::size_t{8} << 20) + 24;

/// "always [madvise] never"
bool gives_huge_pages_to_all() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string text;
  std::getline(file, text);
  return text.find("[always]") != std::string::npos;
}

bool is_zeroed(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

TEST(MessageMemory, IsAsLargeAsAskedForAndZeroed) {
  for (const Pages pages : {Pages::system, Pages::small, Pages::huge})
    for (const std::size_t size : {std::size_t{8}, std::size_t{4104}, large}) {
      const MessageMemory memory(size, pages);
      ASSERT_EQ(memory.bytes().size(), size);
      EXPECT_TRUE(is_zeroed(memory.bytes()));
    }
  EXPECT_TRUE(MessageMemory().bytes().empty());
}

/// The numbers of messages stand beside those of programs that ask for no huge pages.
TEST(MessageMemory, LiesInHugePagesOnlyWhereTheSystemOrSomebodySaysSo) {
  EXPECT_EQ(MessageMemory(large, Pages::small).huge_bytes(), 0U);
  if (!gives_huge_pages_to_all()) {
    EXPECT_EQ(MessageMemory(large, MessagePages{}.pages).huge_bytes(), 0U);
  }
}

TEST(MessageMemory, TellsWhatWasAskedForAndWhatCameOfIt) {
  const MessageMemory out(large, Pages::small);
  const MessageMemory in(4096, Pages::small);
  EXPECT_EQ(pages_json(Pages::small, out, in), (Json{{"asked", "small"}, {"bytes", large + 4096}, {"huge_bytes", 0}}));
  const MessageMemory huge(large, Pages::huge);
  const Json told = pages_json(Pages::huge, huge, MessageMemory());
  EXPECT_EQ(told["asked"], "huge");
  EXPECT_EQ(told["huge_bytes"], huge.huge_bytes());
}

}  // namespace ullage::message_memory_test
