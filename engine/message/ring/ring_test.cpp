// SPDX-License-Identifier: Apache-2.0
// Workload `ring` as a plan has it.
#include <gtest/gtest.h>

#include "message/ring/ring.hpp"
#include "run/workload_test_support.hpp"

namespace ullage::ring_test {

class MpiRing : public test::MpiLaunch {
 protected:
  void SetUp() override {
    if (world_.size() < 2) GTEST_SKIP() << "one rank has nobody to send to";
  }
};

TEST_F(MpiRing, NaturalRingHasOneTime) {
  ASSERT_EQ(run("ring", {}), PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(records_[0]["phase"], "ring");
  EXPECT_GT(gauge(0, "ring_s", "least"), 0);
  EXPECT_EQ(gauge(0, "ring_s", "least"), gauge(0, "ring_s", "most"));
  EXPECT_NEAR(gauge(0, "ring_s", "least"), gauge(0, "ring/0_s", "most"), 1e-15);
  EXPECT_GE(gauge(0, "loops", "least"), 8);
  EXPECT_EQ(gauge(0, "message_bytes", "most"), 8);
  EXPECT_EQ(records_[0]["operations"], 5 * 2 * world_.size());
  // Each rank looks at both ends of the last two messages, and at all of those sent once more.
  EXPECT_EQ(records_[0]["verified_bytes"], world_.size() * (5 * 2 * 2 * 2 + 2 * 2 * 8));
  EXPECT_EQ(records_[0]["facts"]["orders"].size(), 1U);
  EXPECT_EQ(records_[0]["facts"]["nodes"].size(), static_cast<std::size_t>(world_.size()));
}

TEST_F(MpiRing, LoopsStayWhereTheyMayNotGrow) {
  ASSERT_EQ(run("ring", {{"grow", false}, {"loops", 3}, {"measurements", 2}}), PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(gauge(0, "loops", "most"), 3);
  EXPECT_EQ(records_[0]["bytes"], world_.size() * 2 * 2 * 3 * 2 * 8);
}

TEST_F(MpiRing, RandomRingsHaveAGeometricMean) {
  const Values given{
      {"order", "random"}, {"rings", 3}, {"message_bytes", 70'001},    {"measurements", 1}, {"grow", false},
      {"loops", 1},        {"seed", 5},  {"permutation", "slot-probe"}};
  ASSERT_EQ(run("ring", given), PhaseStatus::ok);
  if (!world_.root()) return;
  double product = 1;
  for (const char* ring : {"ring/0_s", "ring/1_s", "ring/2_s"}) product *= gauge(0, ring, "least");
  EXPECT_NEAR(gauge(0, "ring_s", "least"), std::cbrt(product), 1e-9);
  EXPECT_EQ(records_[0]["facts"]["orders"][2], Json(random_order(RandomOrder::slot_probe, world_.size(), 5, 2)));
}

TEST_F(MpiRing, MessagesLieInThePagesThatWereAskedForAndTheRecordSaysSo) {
  Values given{{"message_bytes", 2'000'000}, {"measurements", 1}, {"loops", 1}, {"pages", "small"}};
  ASSERT_EQ(run("ring", given), PhaseStatus::ok);
  if (world_.root()) {
    EXPECT_EQ(records_[0]["facts"]["pages"], (Json{{"asked", "small"}, {"bytes", 8'000'000}, {"huge_bytes", 0}}));
  }
  given.erase("pages");
  ASSERT_EQ(run("ring", given), PhaseStatus::ok);
  if (world_.root()) {
    EXPECT_EQ(records_[0]["facts"]["pages"]["asked"], "default");
  }
}

TEST_F(MpiRing, ManyRingsAreNotListed) {
  const Values given{{"order", "random"}, {"rings", 65}, {"measurements", 1}, {"loops", 1}, {"grow", false}};
  ASSERT_EQ(run("ring", given), PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(records_[0]["gauges"].size(), 3U);
  EXPECT_FALSE(records_[0]["facts"].contains("orders"));
}

TEST(Ring, OneRankAndManyNaturalRingsAreRefused) {
  EXPECT_FALSE(test::Launch::entry("ring").works_on_storage());
  const auto refusal = [](const Values& given, int ranks) { return test::Launch::refusal("ring", given, ranks); };
  EXPECT_EQ(refusal({}, 2), "");
  EXPECT_NE(refusal({}, 1).find("two ranks or more"), std::string::npos);
  EXPECT_NE(refusal({{"rings", 2}}, 2).find("/p/rings"), std::string::npos);
  EXPECT_EQ(refusal({{"rings", 2}, {"order", "random"}}, 2), "");
}

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

}  // namespace ullage::ring_test
