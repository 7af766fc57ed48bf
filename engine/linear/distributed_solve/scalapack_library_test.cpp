// SPDX-License-Identifier: Apache-2.0
// The machine's own ScaLAPACK, where it has one.
#include "linear/distributed_solve/scalapack_library.hpp"

#include <gtest/gtest.h>

namespace ullage::scalapack_library_test {

/// First of all: before the machine's own is loaded.
TEST(ScalapackLibrary, WhatCannotBeLoadedBindsNobody) {
  EXPECT_FALSE(load_scalapack({"libnone.so", ""}).has_value());
  const auto own = load_scalapack({});
  EXPECT_TRUE(own || own.error().text.find("separate launches") == std::string::npos);
}

TEST(ScalapackLibrary, IsLoadedOnceOrTheReasonIsOneLine) {
  const auto first = load_scalapack({});
  const auto second = load_scalapack({});
  ASSERT_EQ(first.has_value(), second.has_value());
  if (!first) {
    EXPECT_EQ(to_line(first.error()).find('\n'), std::string::npos);
    return;
  }
  EXPECT_EQ(*first, *second);
  EXPECT_NE((*first)->facts.at("library").find("scalapack"), std::string::npos);
  EXPECT_FALSE((*first)->facts.at("blas").empty());
}

TEST(ScalapackLibrary, AnotherChoiceIsRefused) {
  if (const auto own = load_scalapack({}); !own) GTEST_SKIP() << to_line(own.error());
  const auto refused = load_scalapack({"libother.so", ""});
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().text.find("separate launches"), std::string::npos);
}

}  // namespace ullage::scalapack_library_test
