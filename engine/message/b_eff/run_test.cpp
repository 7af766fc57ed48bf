// SPDX-License-Identifier: Apache-2.0
#include "message/b_eff/run.hpp"

#include <gtest/gtest.h>

#include "base/signals.hpp"

namespace ullage::b_eff_run_test {

class MpiBEffRun : public ::testing::Test {
 protected:
  MpiBEffRun() : meter_(StopFlags::instance().now()) {
    context_.world = &world_;
    parameters_.lmax_bytes = 4096;
    parameters_.random_rings = 1;
  }
  void SetUp() override {
    if (world_.size() < 2) GTEST_SKIP() << "one rank has nobody to send to";
    meter_.start(0);
  }

  mpi::World world_;
  Meter meter_;
  WorkloadContext context_;
  BEffParameters parameters_;
};

TEST_F(MpiBEffRun, AllRanksDoWhatRankZeroHasChosen) {
  BEffRun run(parameters_, context_);
  run.find_peers();
  run.make_messages();
  run.begin_size(0);
  // Every rank has measured something else.
  run.probed(mpi::MessageMethod::sendrecv, 0.001 * (1 + world_.rank()));
  run.settle_loops();
  EXPECT_EQ(run.loops(mpi::MessageMethod::sendrecv), 2500U);
  run.took({0, mpi::MessageMethod::sendrecv}, 0.6 / (1 + world_.rank()));
  run.begin_size(1);
  EXPECT_EQ(run.loops(mpi::MessageMethod::sendrecv), 1250U);
}

TEST_F(MpiBEffRun, BestMethodIsThatWhoseSlowestRankIsFastest) {
  parameters_.additional = false;
  BEffRun run(parameters_, context_);
  run.find_peers();
  run.make_messages();
  for (std::size_t size = 0; size < 19; ++size) run.begin_size(size);
  const bool last = world_.rank() == world_.size() - 1;
  for (const BEffExperiment& experiment : run.experiments()) {
    double took_s = 100;
    if (experiment.method == mpi::MessageMethod::sendrecv && !last) took_s = 1;
    if (experiment.method == mpi::MessageMethod::alltoallv && experiment.pattern == 2) took_s = 50;
    if (experiment.method == mpi::MessageMethod::nonblocking && experiment.pattern != 2) took_s = 80;
    run.took(experiment, took_s);
  }
  run.begin_size(19);
  ASSERT_TRUE(run.is_short());
  const auto experiments = run.experiments();
  ASSERT_EQ(experiments.size(), 7U);
  for (const auto& [pattern, method] : experiments)
    EXPECT_EQ(method, pattern == 2 ? mpi::MessageMethod::alltoallv : mpi::MessageMethod::nonblocking) << pattern;
  for (const auto method : message_methods) EXPECT_EQ(run.loops(method), 1U);
}

TEST_F(MpiBEffRun, NobodyIsShortWithoutBeingAsked) {
  parameters_.short_last_two = false;
  BEffRun run(parameters_, context_);
  run.find_peers();
  run.make_messages();
  for (std::size_t size = 0; size < 19; ++size) run.begin_size(size);
  for (const BEffExperiment& experiment : run.experiments()) run.took(experiment, 1e6);
  run.begin_size(19);
  EXPECT_FALSE(run.is_short());
}

TEST_F(MpiBEffRun, WhoHasNoPlaceInAPatternWaits) {
  BEffRun run(parameters_, context_);
  run.find_peers();
  run.make_messages();
  run.begin_size(0);
  std::size_t pair = 0;
  while (run.name(pair) != "ping-pong") ++pair;
  MessageEnds ends = run.make_ends();
  const double took_s = run.measure({pair, mpi::MessageMethod::sendrecv}, 3, meter_, ends);
  EXPECT_EQ(took_s > 0, world_.rank() < 2);
  EXPECT_EQ(run.sends(pair), world_.rank() < 2 ? 1U : 0U);
  EXPECT_EQ(meter_.bytes(), world_.rank() < 2 ? 3U : 0U);
  EXPECT_EQ(meter_.operations(), 1U);
  EXPECT_EQ(ends.found().verified_bytes, world_.rank() < 2 ? 2U : 0U);
}

TEST_F(MpiBEffRun, MessagesOfAnotherKeyAreFound) {
  context_.run_key = 7 + static_cast<std::uint64_t>(world_.rank());
  BEffRun run(parameters_, context_);
  run.find_peers();
  run.make_messages();
  for (std::size_t size = 0; size < 6; ++size) run.begin_size(size);
  for (const bool timed : {false, true}) {
    MessageEnds ends = run.make_ends();
    if (timed) (void)run.measure({5, mpi::MessageMethod::nonblocking}, 2, meter_, ends);
    if (!timed) run.check({5, mpi::MessageMethod::nonblocking}, ends);
    ASSERT_TRUE(ends.found().first.has_value());
    EXPECT_EQ(ends.found().first->kind, ErrorKind::verification);
    EXPECT_NE(to_line(*ends.found().first).find("ring-5 by nonblocking, 32 bytes"), std::string::npos);
  }
}

TEST_F(MpiBEffRun, TimedCheckLooksAtEveryLoop) {
  parameters_.timed_check = true;
  BEffRun run(parameters_, context_);
  run.find_peers();
  run.make_messages();
  run.begin_size(0);
  MessageEnds ends = run.make_ends();
  (void)run.measure({5, mpi::MessageMethod::alltoallv}, 9, meter_, ends);
  EXPECT_EQ(ends.found().verified_bytes, 9 * 2 * run.sends(5));  // as many come as go
}

TEST(BEffParameters, AreThoseOfTheOriginal) {
  const auto values = complete(specs_of(BEffParameters::table()), {}, "");
  const auto parameters = bind_parameters<BEffParameters>(values.value());
  EXPECT_EQ(parameters.lmax_bytes, 1U << 20U);
  EXPECT_EQ(parameters.budget_s, 0.5);
  EXPECT_EQ(parameters.patterns(8).size(), 49U);
  EXPECT_FALSE(complete(specs_of(BEffParameters::table()), {{"lmax_bytes", 4095}}, "").has_value());
  EXPECT_TRUE(complete(specs_of(BEffParameters::table()), {{"lmax_bytes", 1 << 28}}, "").has_value());
}

BEffLoops after_probe(double budget_s, double probe_s) {
  BEffLoops loops(budget_s);
  loops.probed(probe_s);
  return loops;
}

TEST(BEffLoops, ProbeIsOfTenLoops) { EXPECT_EQ(BEffLoops(0.5).loops(), 10U); }

TEST(BEffLoops, FirstLengthHasHalfOfWhatTheProbeAllows) {
  EXPECT_EQ(after_probe(0.5, 0.001).loops(), 2500U);
  EXPECT_EQ(after_probe(0.5, 0.003).loops(), 833U);  // 10 * 0.5 / 0.003 = 1666
  EXPECT_EQ(after_probe(0.5, 100).loops(), 5U);      // at least ten are allowed
  EXPECT_GT(after_probe(0.5, 0).loops(), 1000U);
}

TEST(BEffLoops, HalfTheBudgetUsedMeansAsManyAtTwiceTheLength) {
  BEffLoops loops = after_probe(0.5, 0.001);
  loops.took(0.249);  // with the probe's it is 0.25 s
  loops.lengthen(2);
  EXPECT_EQ(loops.loops(), 2500U);
}

TEST(BEffLoops, FullBudgetUsedMeansHalfAtTwiceTheLength) {
  BEffLoops loops = after_probe(0.5, 0.001);
  loops.took(0.3);
  loops.took(0.3);
  loops.lengthen(2);
  EXPECT_EQ(loops.loops(), 1250U);
  loops.took(0.7);
  loops.lengthen(2.8284);
  EXPECT_EQ(loops.loops(), 441U);
}

TEST(BEffLoops, NeverMoreThanTheProbeAllowedNorLessThanOne) {
  BEffLoops loops = after_probe(0.5, 0.001);
  loops.took(1e-6);
  loops.lengthen(2);
  loops.took(1e-6);
  loops.lengthen(2);
  EXPECT_EQ(loops.loops(), 5000U);
  for (int i = 0; i < 20; ++i) {
    loops.took(3);
    loops.lengthen(2);
  }
  EXPECT_EQ(loops.loops(), 1U);
}

TEST(BEffLoops, ForgetsTheTimesOfTheLengthBefore) {
  BEffLoops loops = after_probe(0.5, 0.001);
  loops.took(0.6);
  loops.lengthen(2);
  loops.took(0.25);
  EXPECT_DOUBLE_EQ(loops.iteration_s(), 0.25 / 1250);
  loops.lengthen(2);
  EXPECT_EQ(loops.loops(), 1250U);
}

std::vector<BEffLoops> three_methods(double iteration_s) {
  BEffLoops loops = after_probe(0.5, 0.25);
  loops.lengthen(1);
  loops.took(iteration_s * static_cast<double>(loops.loops()));
  return std::vector<BEffLoops>(3, loops);
}

/// Four times (2 + 4) iterations by three methods in three repetitions: 216 iterations of all patterns.
TEST(BEffLoops, LastTwoTakeTooLongAboveAMinute) {
  EXPECT_FALSE(last_two_take_too_long(three_methods(59.0 / 216), 2, 0.5));
  EXPECT_TRUE(last_two_take_too_long(three_methods(61.0 / 216), 2, 0.5));
  EXPECT_TRUE(last_two_take_too_long(three_methods(59.0 / 216), 2, 0.05));
  EXPECT_TRUE(last_two_take_too_long(three_methods(59.0 / 216), 2.8284, 0.5));
}

std::vector<std::uint64_t> from_4_kib(std::uint64_t lmax_bytes) {
  const auto sizes = b_eff_sizes(lmax_bytes);
  return {sizes.begin() + 12, sizes.end()};
}

TEST(BEffSizes, DoubleUpTo4KiB) {
  const auto sizes = b_eff_sizes(1 << 20);
  EXPECT_EQ(sizes.size(), 21U);
  for (std::size_t i = 0; i <= 12; ++i) EXPECT_EQ(sizes[i], 1U << i);
}

/// Published, for 128 MiB, 2 GiB and 16 MiB of memory a process.
TEST(BEffSizes, ThenInEqualRatiosAsInTheOriginal) {
  EXPECT_EQ(from_4_kib(1 << 20),
            (std::vector<std::uint64_t>{4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576}));
  EXPECT_EQ(from_4_kib(16 << 20),
            (std::vector<std::uint64_t>{4096, 11585, 32768, 92682, 262144, 741455, 2097152, 5931642, 16777216}));
  EXPECT_EQ(from_4_kib(128 << 10),
            (std::vector<std::uint64_t>{4096, 6317, 9742, 15024, 23170, 35734, 55109, 84990, 131072}));
}

TEST(BEffSizes, LastIsExactlyTheLongest) {
  for (const std::uint64_t lmax : {4096ULL, 5000ULL, 1048583ULL, 100'000'000ULL, 1ULL << 28U}) {
    EXPECT_EQ(b_eff_sizes(lmax).back(), lmax);
    EXPECT_TRUE(std::ranges::is_sorted(b_eff_sizes(lmax)));
  }
}

TEST(BEffSizes, GrowthIsTwoThenTheRatio) {
  EXPECT_EQ(b_eff_growth(16 << 20, 1), 2);
  EXPECT_EQ(b_eff_growth(16 << 20, 12), 2);
  EXPECT_NEAR(b_eff_growth(16 << 20, 13), 2.8284, 1e-4);
  EXPECT_NEAR(b_eff_growth(16 << 20, 20), 2.8284, 1e-4);
  EXPECT_EQ(b_eff_growth(4096, 20), 1);
}

}  // namespace ullage::b_eff_run_test
