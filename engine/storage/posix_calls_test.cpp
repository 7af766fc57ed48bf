// SPDX-License-Identifier: Apache-2.0
#include "storage/posix_calls.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::posix_calls_test {

class PosixCalls : public ::testing::Test {
 protected:
  PosixCalls() : file_(::open((folder_.path() + "/f").c_str(), O_RDWR | O_CREAT, 0600)) {}
  [[nodiscard]] int fd() const { return file_.get(); }
  [[nodiscard]] off_t place() const { return ::lseek(fd(), 0, SEEK_CUR); }

  test::TempFolder folder_;
  Descriptor file_;
  std::array<std::byte, 4096> memory_{};
};

TEST_F(PosixCalls, PositionedLeavesThePlaceOfTheFileAlone) {
  const PositionedCall call;
  EXPECT_EQ(call.move<Direction::write>(fd(), {100, 50, memory_.data()}, 0), 50);
  EXPECT_EQ(call.move<Direction::read>(fd(), {100, 50, memory_.data()}, 20), 30);
  EXPECT_EQ(place(), 0);
}

TEST_F(PosixCalls, SeekingMovesThePlaceOnlyWhereATransferBeginsElsewhere) {
  SeekingCall call;
  EXPECT_EQ(call.move<Direction::write>(fd(), {0, 50, memory_.data()}, 0), 50);
  EXPECT_EQ(place(), 50);
  // Somebody else's move is not seen: what follows goes on where the file is, without a seek.
  ASSERT_EQ(::lseek(fd(), 1000, SEEK_SET), 1000);
  EXPECT_EQ(call.move<Direction::write>(fd(), {50, 50, memory_.data()}, 0), 50);
  EXPECT_EQ(place(), 1050);
  EXPECT_EQ(call.move<Direction::write>(fd(), {10, 50, memory_.data()}, 20), 30);
  EXPECT_EQ(place(), 60) << "the rest of a transfer that began at 10";
}

TEST_F(PosixCalls, SeekingSeeksAgainAfterAnError) {
  SeekingCall call;
  EXPECT_EQ(call.move<Direction::write>(-1, {0, 8, memory_.data()}, 0), -1);
  ASSERT_EQ(::lseek(fd(), 1000, SEEK_SET), 1000);
  EXPECT_EQ(call.move<Direction::write>(fd(), {0, 8, memory_.data()}, 0), 8);
  EXPECT_EQ(place(), 8);
}

TEST_F(PosixCalls, VectorMovesAllPiecesAndTheRestOfThem) {
  VectorCall call(16, 512);
  EXPECT_EQ(call.move<Direction::write>(fd(), {0, 4096, memory_.data()}, 0), 4096);
  EXPECT_EQ(call.move<Direction::read>(fd(), {0, 4096, memory_.data()}, 1000), 3096);
  VectorCall odd(3, 1);
  EXPECT_EQ(odd.move<Direction::write>(fd(), {7, 100, memory_.data()}, 0), 100);
  EXPECT_EQ(place(), 0);
}

}  // namespace ullage::posix_calls_test
