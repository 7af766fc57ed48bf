// SPDX-License-Identifier: Apache-2.0
#include "message/message_contents.hpp"

#include <gtest/gtest.h>

namespace ullage::message_contents_test {

std::vector<std::byte> filled(const MessageContents& contents, std::size_t bytes, int sender) {
  std::vector<std::byte> buffer(bytes);
  contents.fill(buffer, sender);
  return buffer;
}

TEST(MessageContents, AMessageFromAnyPlaceOfTheBufferIsRight) {
  for (const std::size_t length : {8U, 9U, 16U, 1000U}) {
    const MessageContents contents(7, length);
    const auto buffer = filled(contents, 8192, 3);
    for (std::size_t place = 0; place + length <= buffer.size(); place += 8)
      ASSERT_TRUE(contents.check(std::span(buffer).subspan(place, length), 3).has_value()) << length << " at " << place;
  }
}

TEST(MessageContents, EveryByteThatIsWrongIsFound) {
  for (const std::size_t length : {1U, 3U, 7U, 8U, 13U, 64U}) {
    const MessageContents contents(7, length);
    auto buffer = filled(contents, 128, 0);
    const auto message = std::span(buffer).first(length);
    for (std::byte& byte : message) {
      byte ^= std::byte{1};
      EXPECT_FALSE(contents.check(message, 0).has_value());
      byte ^= std::byte{1};
    }
    EXPECT_TRUE(contents.check(message, 0).has_value());
  }
}

TEST(MessageContents, OfAnotherSenderOrRepetitionIsWrong) {
  for (const std::size_t length : {4U, 8U, 100U}) {
    const auto buffer = filled(MessageContents(7, length), 128, 1);
    const auto message = std::span(buffer).first(length);
    EXPECT_TRUE(MessageContents(7, length).check(message, 1).has_value());
    EXPECT_FALSE(MessageContents(7, length).check(message, 2).has_value());
    EXPECT_FALSE(MessageContents(8, length).check(message, 1).has_value());
  }
}

TEST(MessageContents, WhatDidNotArriveIsWrongAtEveryPlace) {
  for (const std::size_t length : {1U, 8U, 24U, 4096U}) {
    const MessageContents contents(7, length);
    MessageBuffers buffers(length, 1, 9, Pages::system);
    contents.fill(buffers.in().bytes(), 0);
    contents.poison(buffers.in().bytes());
    for (int i = 0; i < 9; ++i) {
      const std::byte* const place = buffers.in().next(length);
      EXPECT_FALSE(contents.check({place, length}, 0).has_value()) << length << ", message " << i;
    }
  }
}

TEST(MessageContents, MessagesUnderWayAtTheSameTimeLieApart) {
  MessageBuffers buffers(100, 1, 9, Pages::system);
  const std::byte* const first = buffers.in().next(100);
  for (int i = 1; i < 9; ++i) EXPECT_GE(buffers.in().next(100), first + 104);
  EXPECT_EQ(buffers.in().next(100), first);
}

}  // namespace ullage::message_contents_test
