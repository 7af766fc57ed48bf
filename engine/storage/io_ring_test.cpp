// SPDX-License-Identifier: Apache-2.0
#include "storage/io_ring.hpp"

#include <gtest/gtest.h>

#include <set>

#include "storage/test_support.hpp"

namespace ullage::io_ring_test {

class IoRingOnAFile : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto missing = IoRing::missing()) GTEST_SKIP() << *missing;
    test::write_file(folder_.path() + "/f", std::string(4096, 'a') + std::string(4096, 'b'));
    file_ = Descriptor(::open((folder_.path() + "/f").c_str(), O_RDWR));
    ASSERT_TRUE(file_);
  }
  test::TempFolder folder_;
  Descriptor file_;
  AlignedBuffer memory_{8192};
};

TEST_F(IoRingOnAFile, EveryRequestComesBackOnceWithItsTag) {
  auto ring = IoRing::make(8);
  ASSERT_TRUE(ring);
  ASSERT_TRUE(ring->register_buffers(memory_.bytes()));
  const auto number = ring->register_file(file_.get());
  ASSERT_TRUE(number);
  for (std::uint64_t tag = 0; tag < 5; ++tag)
    ASSERT_TRUE(ring->queue(*number, {false, memory_.bytes().data() + tag * 1024, 1024, tag * 1024, tag}));
  std::multiset<std::uint64_t> seen;
  while (seen.size() < 5) {
    ASSERT_TRUE(ring->wait());
    while (const auto completion = ring->next_completion()) {
      EXPECT_EQ(completion->result, 1024);
      seen.insert(completion->tag);
    }
  }
  EXPECT_EQ(seen, (std::multiset<std::uint64_t>{0, 1, 2, 3, 4}));
  EXPECT_FALSE(ring->next_completion());
  EXPECT_EQ(memory_.bytes()[4095], std::byte{'a'});
  EXPECT_EQ(memory_.bytes()[4096], std::byte{'b'});
}

TEST_F(IoRingOnAFile, ErrorsAreThoseOfTheOperationAndNotOfTheRing) {
  auto ring = IoRing::make(1);
  ASSERT_TRUE(ring);
  const Descriptor unwritable(::open((folder_.path() + "/f").c_str(), O_RDONLY));
  const auto number = ring->register_file(unwritable.get());
  ASSERT_TRUE(ring->queue(*number, {true, memory_.bytes().data(), 512, 0, 7}));
  ASSERT_TRUE(ring->wait());
  const auto completion = ring->next_completion();
  ASSERT_TRUE(completion);
  EXPECT_EQ(completion->tag, 7U);
  EXPECT_EQ(completion->result, -EBADF);
}

TEST_F(IoRingOnAFile, ForgottenFilesMakeRoomForOthers) {
  auto ring = IoRing::make(1);
  ASSERT_TRUE(ring);
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(ring->register_file(file_.get()), i);
  EXPECT_EQ(ring->register_file(file_.get()).error(), ENFILE);
  ring->unregister_file(5);
  EXPECT_EQ(ring->register_file(file_.get()), 5U);
  EXPECT_EQ(ring->register_file(-1).error(), ENFILE);
}

TEST_F(IoRingOnAFile, MemoryCanBeKeptAnewAndIsForgottenWithoutHarm) {
  auto ring = IoRing::make(1);
  ASSERT_TRUE(ring);
  ring->unregister_buffers();
  EXPECT_TRUE(ring->register_buffers({}));
  EXPECT_TRUE(ring->register_buffers(memory_.bytes()));
  EXPECT_TRUE(ring->register_buffers(memory_.bytes().first(4096)));
  ring->unregister_buffers();
  const auto number = ring->register_file(file_.get());
  ASSERT_TRUE(ring->queue(*number, {false, memory_.bytes().data(), 8192, 0, 0}));
  ASSERT_TRUE(ring->wait());
  EXPECT_EQ(ring->next_completion()->result, 8192);
}

}  // namespace ullage::io_ring_test
