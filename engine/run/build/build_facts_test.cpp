// SPDX-License-Identifier: Apache-2.0
#include "run/build/build_facts.hpp"

#include <gtest/gtest.h>

namespace ullage::build_facts_test {

TEST(BuildFacts, AreAllThere) {
  const BuildFacts facts = build_facts();
  EXPECT_FALSE(facts.version.empty());
  EXPECT_FALSE(facts.git.empty());
  EXPECT_FALSE(facts.compiler.empty());
  EXPECT_FALSE(facts.flags.empty());
  EXPECT_TRUE(facts.mpiexec.empty() || facts.mpiexec.starts_with("/")) << facts.mpiexec;  // empty: made for any MPI
}

}  // namespace ullage::build_facts_test
