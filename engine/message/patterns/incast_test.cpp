// SPDX-License-Identifier: Apache-2.0
#include "message/patterns/incast.hpp"

#include <gtest/gtest.h>

#include "message/patterns/test_support.hpp"

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
