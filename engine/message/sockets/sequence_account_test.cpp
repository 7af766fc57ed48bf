// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/sequence_account.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>

namespace ullage::sequence_account_test {
namespace {

SequenceAccount account_of(std::initializer_list<std::uint64_t> numbers) {
  SequenceAccount account;
  for (const std::uint64_t number : numbers) account.add(number);
  return account;
}

TEST(SequenceAccount, AllInTurnMissNothing) {
  const auto totals = account_of({0, 1, 2, 3}).totals();
  EXPECT_EQ(totals.received, 4U);
  EXPECT_EQ(totals.lost_since({}), 0U);
  EXPECT_EQ(totals.duplicates + totals.reordered, 0U);
}

TEST(SequenceAccount, AGapIsLossUntilItIsFilled) {
  SequenceAccount account = account_of({0, 1, 4});
  EXPECT_EQ(account.totals().lost_since({}), 2U);
  account.add(3);
  EXPECT_EQ(account.totals().lost_since({}), 1U);
  EXPECT_EQ(account.totals().reordered, 1U);
  EXPECT_EQ(account.totals().duplicates, 0U);
}

TEST(SequenceAccount, WhatCameBeforeIsADuplicateAndNoGain) {
  const auto totals = account_of({0, 1, 1, 3, 0, 3}).totals();
  EXPECT_EQ(totals.duplicates, 3U);
  EXPECT_EQ(totals.reordered, 0U);
  EXPECT_EQ(totals.lost_since({}), 1U);
}

TEST(SequenceAccount, AWindowCountsOnlyItsOwn) {
  SequenceAccount account = account_of({0, 5});
  const auto before = account.totals();
  account.add(6);
  account.add(9);
  EXPECT_EQ(account.totals().expected_since(before), 4U);
  EXPECT_EQ(account.totals().lost_since(before), 2U);
  account.add(3);  // of before the window: never less than none are lost
  account.add(7);
  account.add(8);
  EXPECT_EQ(account.totals().lost_since(before), 0U);
}

TEST(SequenceAccount, NumbersOneTurnOfTheMemoryApartAreTwo) {
  SequenceAccount account = account_of({0});
  account.add(SequenceAccount::remembered);
  EXPECT_EQ(account.totals().duplicates, 0U);
  account.add(1);
  EXPECT_EQ(account.totals().reordered, 1U);
  account.add(1);
  EXPECT_EQ(account.totals().duplicates, 1U);
  account.add(0);  // too long ago to be known
  EXPECT_EQ(account.totals().duplicates, 1U);
  EXPECT_EQ(account.totals().reordered, 2U);
}

TEST(SequenceAccount, AJumpFurtherThanTheMemoryForgetsAll) {
  SequenceAccount account = account_of({0, 1, 2});
  account.add(3 * SequenceAccount::remembered + 5);
  account.add(2 * SequenceAccount::remembered + 5 + 1);
  EXPECT_EQ(account.totals().duplicates, 0U);
  EXPECT_EQ(account.totals().reordered, 1U);
}

TEST(SequenceAccount, JitterIsRfc3550s) {
  SequenceAccount account;
  account.arrived(1'000'000'000, 50);  // the offset of the clocks is of no matter
  EXPECT_EQ(account.jitter_ns(), 0);
  account.arrived(1'000'000'100, 150);
  EXPECT_EQ(account.jitter_ns(), 0);
  account.arrived(1'000'000'200, 266);
  EXPECT_EQ(account.jitter_ns(), 1);  // 16 / 16
  account.arrived(1'000'000'300, 350);
  EXPECT_DOUBLE_EQ(account.jitter_ns(), 1 + (16 - 1) / 16.0);
}

}  // namespace
}  // namespace ullage::sequence_account_test
