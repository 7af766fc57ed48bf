// SPDX-License-Identifier: Apache-2.0
#include "base/signals.hpp"

#include <gtest/gtest.h>

#include "run/test_support.hpp"

namespace ullage::signals_test {

class Signals : public ::testing::Test {
 protected:
  test::KeptSignals kept_;
  StopFlags& flags_ = StopFlags::instance();
};

TEST_F(Signals, NothingIsRequestedAtFirst) {
  EXPECT_FALSE(flags_.requested());
  EXPECT_FALSE(flags_.now().load());
}

TEST_F(Signals, SecondRequestStopsAtOnce) {
  flags_.request();
  EXPECT_TRUE(flags_.requested());
  EXPECT_FALSE(flags_.now().load());
  flags_.request();
  EXPECT_TRUE(flags_.now().load());
}

TEST_F(Signals, StopNowNeedsNoRequest) {
  flags_.stop_now();
  EXPECT_TRUE(flags_.now().load());
  EXPECT_FALSE(flags_.requested());
  flags_.reset();
  EXPECT_FALSE(flags_.now().load());
}

TEST_F(Signals, EachSignalIsARequest) {
  flags_.install();
  for (const int number : {SIGTERM, SIGUSR1}) {
    flags_.reset();
    raise(number);
    EXPECT_TRUE(flags_.requested());
  }
  EXPECT_FALSE(flags_.now().load());
  raise(SIGINT);
  EXPECT_TRUE(flags_.now().load());
}

TEST_F(Signals, InstallingAgainKeepsWhatWasAsked) {
  flags_.install();
  raise(SIGINT);
  flags_.install();
  EXPECT_TRUE(flags_.requested());
}

}  // namespace ullage::signals_test
