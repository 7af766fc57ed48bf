// SPDX-License-Identifier: Apache-2.0
#include "message/ring/phase.hpp"

#include <gtest/gtest.h>

#include "run/workload_test_support.hpp"

namespace ullage::ring_phase_test {
namespace {

TEST(RingPhase, FastestMeasurementOfEachRingCounts) {
  EXPECT_EQ(ring_times({3, 2, 5, 7, 9, 8}, 3), (std::vector<double>{2, 7}));
  EXPECT_EQ(ring_times({3, 2}, 1), (std::vector<double>{3, 2}));
}

TEST(RingPhase, MeanOfRingsIsGeometric) {
  EXPECT_NEAR(geometric_mean({2, 8}), 4, 1e-12);
  EXPECT_NEAR(geometric_mean({1e-6, 1e-6, 1e-6}), 1e-6, 1e-18);
}

class MpiRingPhase : public test::MpiLaunch {
 protected:
  MpiRingPhase() { parameters_.measurements = 1; }
  void SetUp() override {
    if (world_.size() < 2) GTEST_SKIP() << "one rank has nobody to send to";
  }
  PhaseStatus run() {
    RingPhase phase(parameters_, context_);
    return run_phase(phase).status;
  }

  RingParameters parameters_;
};

TEST_F(MpiRingPhase, LoopsGrowByHalvesUntilTheClockCanTell) {
  parameters_.loops = 1;
  ASSERT_EQ(run(), PhaseStatus::ok);
  if (!world_.root()) return;
  const auto loops = record_["gauges"]["loops"]["most"].get<std::uint64_t>();
  std::uint64_t grown = 1;
  while (grown < loops) grown += (grown + 1) / 2;
  EXPECT_EQ(grown, loops);
}

TEST_F(MpiRingPhase, WrongMessagesFailIt) {
  context_.run_key = static_cast<std::uint64_t>(world_.rank());
  EXPECT_EQ(run(), PhaseStatus::failed);
  if (world_.root()) {
    EXPECT_NE(record_["failures"].dump().find("ring 0 by sendrecv, 8 bytes from rank"), std::string::npos);
  }
}

}  // namespace
}  // namespace ullage::ring_phase_test
