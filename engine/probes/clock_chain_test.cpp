// SPDX-License-Identifier: Apache-2.0
#include "probes/clock_chain.hpp"

#include <gtest/gtest.h>

namespace ullage::clock_chain_test {
namespace {

TEST(ClockChain, IsWorkThatTheCompilerCannotSkip) {
  EXPECT_GT(clock_chain_ns(), 500);  // 2000 dependent multiplications at 4 GHz take more than twice as long
}

}  // namespace
}  // namespace ullage::clock_chain_test
