// SPDX-License-Identifier: Apache-2.0
#include "message/patterns/sparse.hpp"

#include <gtest/gtest.h>

#include "message/patterns/test_support.hpp"

namespace ullage::sparse_test {
namespace {

constexpr int nobody = mpi::MessageStep::nobody;

std::string refusal(const std::string& text, int ranks = 4) {
  const auto pattern = sparse(text, "my.pattern", ranks);
  return pattern ? "" : to_line(pattern.error());
}

TEST(Sparse, LinksInTheirOrderWithWeightsCommentsAndTabs) {
  const auto pattern = sparse("# a stencil\n0 1\n\n\t1\t2 2 # twice\r\n2 0", "f", 4);
  ASSERT_TRUE(pattern.has_value());
  EXPECT_EQ(test::messages_of(*pattern), 4U);
  const std::vector<mpi::MessageStep> one{{nobody, 0}, {2, nobody}, {2, nobody}};
  EXPECT_EQ(steps_of(*pattern, 1), one);
  EXPECT_TRUE(steps_of(*pattern, 3).empty());
}

TEST(Sparse, MistakesNameFileAndLine) {
  EXPECT_NE(refusal("0 1\n0 x\n").find("my.pattern"), std::string::npos);
  EXPECT_NE(refusal("0 1\n0 x\n").find("line 2: 'x' is not a whole number"), std::string::npos);
  EXPECT_NE(refusal("0 1\n\n# c\n0 -1").find("line 4: '-1' is not a whole number"), std::string::npos);
  EXPECT_NE(refusal("0 1.5").find("line 1: '1.5' is not"), std::string::npos);
  EXPECT_NE(refusal("3").find("line 1: no rank to send to"), std::string::npos);
  EXPECT_NE(refusal("0 1 1 1").find("line 1: more than three words"), std::string::npos);
  EXPECT_NE(refusal("0 4").find("line 1: rank 4 of 4 ranks"), std::string::npos);
  EXPECT_NE(refusal("2 2").find("line 1: rank 2 sends to itself"), std::string::npos);
  EXPECT_NE(refusal("0 1 0").find("line 1: a weight from 1"), std::string::npos);
  EXPECT_NE(refusal("0 1 1025").find("line 1: a weight from 1"), std::string::npos);
  EXPECT_NE(refusal("0 1\n1 0\n0 1 3").find("line 3: this link is given twice"), std::string::npos);
  EXPECT_NE(refusal("0 99999999999").find("is not a whole number"), std::string::npos);
  EXPECT_NE(refusal("# nothing\n").find("no link in it"), std::string::npos);
  EXPECT_NE(refusal("").find("no link in it"), std::string::npos);
}

}  // namespace
}  // namespace ullage::sparse_test

namespace ullage::incast_test {
namespace {

constexpr int nobody = mpi::MessageStep::nobody;

TEST(Incast, EveryOtherRankSendsOnceToTheFirst) {
  const Pattern pattern = incast(4);
  EXPECT_EQ(test::messages_of(pattern), 3U);
  const std::vector<mpi::MessageStep> receives{{nobody, 1}, {nobody, 2}, {nobody, 3}};
  EXPECT_EQ(steps_of(pattern, 0), receives);
  const std::vector<mpi::MessageStep> sends{{0, nobody}};
  EXPECT_EQ(steps_of(pattern, 3), sends);
}

TEST(Incast, OutcastIsItsMirror) {
  const Pattern pattern = outcast(3);
  EXPECT_EQ(test::messages_of(pattern), 2U);
  const std::vector<mpi::MessageStep> sends{{1, nobody}, {2, nobody}};
  EXPECT_EQ(steps_of(pattern, 0), sends);
  const std::vector<mpi::MessageStep> receives{{nobody, 0}};
  EXPECT_EQ(steps_of(pattern, 2), receives);
}

}  // namespace
}  // namespace ullage::incast_test
