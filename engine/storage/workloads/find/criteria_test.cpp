// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/find/criteria.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ullage::find_criteria_test {

constexpr std::uint64_t mebibyte = 1 << 20;

SizeTest size_test(const std::string& word) {
  const auto parsed = SizeTest::parse(word, "");
  EXPECT_TRUE(parsed.has_value()) << word;
  return *parsed;
}

TEST(NamePattern, StarTakesAnythingAlsoALeadingDot) {
  for (const std::string name : {"a", ".a", "..", "-", "\n", "\xff\xfe", "*"})
    EXPECT_TRUE(NamePattern("*").matches(name)) << name;
  EXPECT_TRUE(NamePattern("*01*").matches("file.mdtest.1.2013"));
  EXPECT_TRUE(NamePattern("*01*").matches("01"));
  EXPECT_FALSE(NamePattern("*01*").matches("0"));
  EXPECT_FALSE(NamePattern("*01*").matches("0x1"));
}

TEST(NamePattern, IsAskedOfTheWholeName) {
  EXPECT_TRUE(NamePattern("abc").matches("abc"));
  EXPECT_FALSE(NamePattern("b").matches("abc"));
  EXPECT_FALSE(NamePattern("a*").matches("ba"));
  EXPECT_FALSE(NamePattern("*a").matches("ab"));
}

TEST(NamePattern, PiecesDoNotShareText) {
  EXPECT_FALSE(NamePattern("ab*ba").matches("aba"));
  EXPECT_TRUE(NamePattern("ab*ba").matches("abba"));
  EXPECT_FALSE(NamePattern("*aa*aa*").matches("aaa"));
  EXPECT_TRUE(NamePattern("a**b").matches("ab"));
}

TEST(NamePattern, OtherSignsOfTheShell) {
  EXPECT_TRUE(NamePattern("f?[0-9]").matches("fx7"));
  EXPECT_FALSE(NamePattern("f?[!0-9]").matches("fx7"));
  EXPECT_TRUE(NamePattern("\\*").matches("*"));
  EXPECT_FALSE(NamePattern("\\*").matches("a"));
  EXPECT_TRUE(NamePattern("?").matches("\xff")) << "a byte that is no UTF-8 is a character too";
  EXPECT_FALSE(NamePattern("?").matches("\xc3\xa4")) << "two bytes are two characters";
}

TEST(SizeTest, UnitsAreRoundedUp) {
  for (const std::uint64_t size : {std::uint64_t{1}, mebibyte - 1, mebibyte})
    EXPECT_TRUE(size_test("1M").matches(size)) << size;
  EXPECT_FALSE(size_test("1M").matches(0));
  EXPECT_FALSE(size_test("1M").matches(mebibyte + 1));
  EXPECT_TRUE(size_test("-1M").matches(0));
  EXPECT_FALSE(size_test("-1M").matches(1)) << "one byte is one mebibyte already, as everybody wonders once";
  EXPECT_TRUE(size_test("+1M").matches(mebibyte + 1));
  EXPECT_FALSE(size_test("+1M").matches(mebibyte));
}

TEST(SizeTest, EveryUnit) {
  EXPECT_TRUE(size_test("3901c").matches(3901));
  EXPECT_FALSE(size_test("3901c").matches(3902));
  EXPECT_TRUE(size_test("2w").matches(3));
  EXPECT_TRUE(size_test("2b").matches(513));
  EXPECT_TRUE(size_test("2").matches(1024)) << "without a unit it is blocks";
  EXPECT_FALSE(size_test("2").matches(1025));
  EXPECT_TRUE(size_test("2k").matches(1025));
  EXPECT_TRUE(size_test("2G").matches((std::uint64_t{1} << 30) + 1));
  EXPECT_TRUE(size_test("0").matches(0));
  EXPECT_TRUE(size_test("-18446744073709551615c").matches(std::numeric_limits<std::int64_t>::max()));
}

TEST(SizeTest, WhatFindWouldNotTakeIsRefusedWithItsPlace) {
  for (const std::string word :
       {"", "+", "c", "+c", "1x", "1kk", "1 k", " 1k", "--1", "1-", "0x10", "1.5k", "18446744073709551616c"}) {
    const auto parsed = SizeTest::parse(word, "/a/b");
    ASSERT_FALSE(parsed.has_value()) << word;
    EXPECT_EQ(parsed.error().kind, ErrorKind::bad_plan);
    EXPECT_EQ(parsed.error().where, "/a/b");
    EXPECT_NE(parsed.error().text.find("'" + word + "'"), std::string::npos) << parsed.error().text;
  }
}

TEST(FindCriteria, NewerIsStrictlyLaterToTheNanosecond) {
  FindCriteria criteria;
  EXPECT_FALSE(criteria.asks_status());
  criteria.newer_than = FileTime{100, 500};
  EXPECT_TRUE(criteria.asks_status());
  EXPECT_FALSE(criteria.accepts_status({100, 500}, 0));
  EXPECT_TRUE(criteria.accepts_status({100, 501}, 0));
  EXPECT_TRUE(criteria.accepts_status({101, 0}, 0));
  EXPECT_FALSE(criteria.accepts_status({99, 999'999'999}, 0));
  EXPECT_FALSE(criteria.accepts_status({-1, 999'999'999}, 0)) << "before 1970";
}

TEST(FindCriteria, AllTestsHaveToHold) {
  FindCriteria criteria{NamePattern("a*"), FileTime{100, 0}, size_test("5c")};
  EXPECT_TRUE(criteria.accepts_name("ab"));
  EXPECT_FALSE(criteria.accepts_name("b"));
  EXPECT_TRUE(criteria.accepts_status({200, 0}, 5));
  EXPECT_FALSE(criteria.accepts_status({200, 0}, 6));
  EXPECT_FALSE(criteria.accepts_status({50, 0}, 5));
}

}  // namespace ullage::find_criteria_test
