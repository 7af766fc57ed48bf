// SPDX-License-Identifier: Apache-2.0
#include "mpi/mailbox.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "base/resources.hpp"
#include "base/test_support.hpp"

namespace ullage::mpi::mailbox_test {
namespace {

Letter wait_for_letter(Mailbox& mailbox) {
  while (true) {
    if (auto letter = mailbox.look()) return std::move(*letter);
    std::this_thread::yield();
  }
}

Mailbox::Pair wait_for_sum(Mailbox& mailbox) {
  while (true) {
    if (const auto sum = mailbox.sum()) return *sum;
    std::this_thread::yield();
  }
}

TEST(MpiMailbox, LettersAreWholeAndSayFromWhom) {
  Mailbox mailbox(Comm::world());
  const int next = (mailbox.rank() + 1) % mailbox.size();
  const int previous = (mailbox.rank() + mailbox.size() - 1) % mailbox.size();
  const std::string odd("\0\n\xff", 3);
  mailbox.post(next, 3, odd + std::to_string(mailbox.rank()));
  mailbox.post(next, 4, {});
  const Letter first = wait_for_letter(mailbox);
  EXPECT_EQ(first.from, previous);
  EXPECT_EQ(first.kind, 3);
  EXPECT_EQ(first.content, odd + std::to_string(previous));
  const Letter second = wait_for_letter(mailbox);
  EXPECT_EQ(second.from, previous);
  EXPECT_EQ(second.kind, 4);
  EXPECT_EQ(second.content, "");
  EXPECT_FALSE(mailbox.look().has_value());
}

/// With sends that wait for their reader this would hang.
TEST(MpiMailbox, LongLettersToEverybodyBeforeAnyIsRead) {
  constexpr std::size_t length = 3'000'000;
  Mailbox mailbox(Comm::world());
  for (int to = 0; to < mailbox.size(); ++to)
    mailbox.post(to, 0, std::string(length, static_cast<char>('a' + mailbox.rank())));
  std::vector<bool> seen(static_cast<std::size_t>(mailbox.size()), false);
  for (int i = 0; i < mailbox.size(); ++i) {
    const Letter letter = wait_for_letter(mailbox);
    EXPECT_FALSE(seen.at(static_cast<std::size_t>(letter.from)));
    seen.at(static_cast<std::size_t>(letter.from)) = true;
    EXPECT_EQ(letter.content, std::string(length, static_cast<char>('a' + letter.from)));
  }
}

TEST(MpiMailbox, ALetterThatThereIsNoRoomForIsTakenAndLost) {
  if (!test::LittleMemory::can_be_had()) GTEST_SKIP() << "address space cannot be limited under this sanitizer";
  Mailbox mailbox(Comm::world());
  if (mailbox.size() == 1) GTEST_SKIP() << "needs two ranks";
  if (mailbox.rank() == 1) {
    mailbox.post(0, 1, std::string(std::size_t{1} << 20, 'x'));
    mailbox.post(0, 2, "next");
  }
  if (mailbox.rank() != 0) return;
  {
    const test::LittleMemory little(true);
    std::vector<std::unique_ptr<char[]>> all_memory;  // but what the library may need
    const Status taken = catch_resource_errors([&] -> Status {
      for (;;) all_memory.push_back(std::make_unique_for_overwrite<char[]>(std::size_t{512} << 10));
    });
    EXPECT_FALSE(taken);
    const Letter lost = wait_for_letter(mailbox);
    EXPECT_TRUE(lost.is_lost);
    EXPECT_EQ(lost.from, 1);
    EXPECT_EQ(lost.content, "");
  }
  const Letter next = wait_for_letter(mailbox);
  EXPECT_FALSE(next.is_lost);
  EXPECT_EQ(next.content, "next");
}

TEST(MpiMailbox, SumIsToldOnceAllHaveAddedAndOnlyOnce) {
  Mailbox mailbox(Comm::world());
  EXPECT_FALSE(mailbox.sum().has_value());
  const auto ranks = static_cast<std::uint64_t>(mailbox.size());
  const auto rank = static_cast<std::uint64_t>(mailbox.rank());
  for (std::uint64_t round = 1; round < 4; ++round) {
    mailbox.add({round, rank});
    EXPECT_EQ(wait_for_sum(mailbox), (Mailbox::Pair{round * ranks, ranks * (ranks - 1) / 2}));
    EXPECT_FALSE(mailbox.sum().has_value());
  }
}

}  // namespace
}  // namespace ullage::mpi::mailbox_test
