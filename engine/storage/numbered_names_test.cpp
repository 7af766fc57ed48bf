// SPDX-License-Identifier: Apache-2.0
#include "storage/numbered_names.hpp"

#include <gtest/gtest.h>

namespace ullage::numbered_names_test {

TEST(NumberedNames, WhatIsMadeIsReadBack) {
  for (const std::uint64_t number :
       {std::uint64_t{0}, std::uint64_t{17}, std::numeric_limits<std::uint64_t>::max() - 1}) {
    std::string name = "before/";
    append_named(name, "l.", number);
    EXPECT_EQ(name, "before/l." + std::to_string(number));
    EXPECT_EQ(numbered(name.substr(7), "l.", std::numeric_limits<std::uint64_t>::max()), number);
  }
}

TEST(NumberedNames, OnlyTheNumberAsItIsWrittenIsTaken) {
  EXPECT_EQ(numbered("l.9", "l.", 10), 9U);
  for (const char* name :
       {"", "l", "l.", "l.10", "l.01", "l.-1", "l. 1", "l.1 ", "l.1x", "m.1", "l.1.1", "l.99999999999999999999999"})
    EXPECT_FALSE(numbered(name, "l.", 10).has_value()) << name;
}

TEST(NumberedNames, BothNumbersMustBeThere) {
  EXPECT_EQ(numbered_twice("i.3.0", "i.", {4, 1}), (TwoNumbers{3, 0}));
  for (const char* name : {"i.3", "i.3.", "i..0", "i.4.0", "i.3.1", "i.3.0.0", "i.03.0", "j.3.0", "3.0"})
    EXPECT_FALSE(numbered_twice(name, "i.", {4, 1}).has_value()) << name;
}

}  // namespace ullage::numbered_names_test
