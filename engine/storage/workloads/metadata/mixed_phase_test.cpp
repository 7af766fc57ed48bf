// SPDX-License-Identifier: Apache-2.0
// Single phases on one rank: what they leave in the sets, what is part of a latency, what is found wrong.
#include "storage/workloads/metadata/mixed_phase.hpp"

#include <gtest/gtest.h>

#include "storage/workloads/test_support.hpp"

namespace ullage::mixed_metadata_phase_test {

using PhaseKind = MixedMetadataPhaseKind;

class MixedMetadataPhases : public test::StorageWorkloadTest {
 protected:
  MixedMetadataPhases() : StorageWorkloadTest("m") {
    use("posix");
    context_ = context();
    parameters_.sets = 2;
    parameters_.objects = 5;
    parameters_.rounds = 3;
    state_.parameters = &parameters_;
    state_.context = &context_;
    state_.tree = parameters_.tree(1);
    state_.dataset = {"m", "c-m", 0, false, false, state_.tree};
    state_.data_key = 42;
    EXPECT_TRUE(backend_->make_directory("c-m"));
  }

  /// All of a phase, or its first `most` operations.
  Verification run(PhaseKind kind, std::uint64_t most = 1'000'000) {
    MixedMetadataPhase phase(state_, kind);
    meter_->use_parts(phase.info().parts.size());
    const Status ready = phase.before();
    EXPECT_TRUE(ready) << test::line_of(ready);
    const std::uint64_t total = std::min(most, phase.operations());
    EXPECT_TRUE(phase.open());
    meter_->start(now_ns());
    for (std::uint64_t done = 0; done < total; done = meter_->operations()) {
      (void)phase.prepare(done, std::min<std::uint64_t>(total - done, 7));
      meter_->resume(now_ns());
      const Status status = phase.execute(*meter_);
      EXPECT_TRUE(status) << test::line_of(status);
      if (!status) break;
    }
    counters_ = phase.counters();
    test::RunningMeter progress;
    return phase.after(meter_->operations(), *progress);
  }
  [[nodiscard]] std::string set_path(int set) const {
    return bench_.path("c-m/mdtest_tree.0.0/mdtest_tree.0." + std::to_string(1 + set));
  }
  void expect_objects(std::uint64_t first) const {
    for (int set = 0; set < 2; ++set) {
      std::set<std::string> wanted;
      for (std::uint64_t i = first; i < first + 5; ++i) wanted.insert("file.mdtest.0." + std::to_string(i));
      const auto names = test::names_in(set_path(set));
      EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), wanted) << "set " << set;
    }
  }

  MixedMetadataParameters parameters_;
  StorageContext context_;
  MixedMetadataState state_;
  test::RunningMeter meter_;
  Counters counters_;
};

TEST_F(MixedMetadataPhases, PrecreateFillsEverySet) {
  EXPECT_FALSE(run(PhaseKind::precreate).first);
  EXPECT_EQ(meter_->operations(), 10U);
  EXPECT_EQ(meter_->bytes(), 10U * 3901);
  EXPECT_TRUE(state_.has_sets);
  expect_objects(0);
}

TEST_F(MixedMetadataPhases, BenchTurnsEverySetOver) {
  (void)run(PhaseKind::precreate);
  const Verification verification = run(PhaseKind::bench);
  EXPECT_FALSE(verification.first) << to_line(*verification.first);
  EXPECT_EQ(verification.verified_bytes, 6U * 3901);
  EXPECT_EQ(counters_, (Counters{{"stats", 6}, {"reads", 6}, {"deletes", 6}, {"creates", 6}}));
  for (const Histogram& part : meter_->parts()) EXPECT_EQ(part.operations(), 6U);
  EXPECT_EQ(meter_->bytes(), 12U * 3901) << "of reads and creates";
  expect_objects(3);
  EXPECT_EQ(state_.first, 3U);
  EXPECT_EQ(state_.benches, 1U);
}

TEST_F(MixedMetadataPhases, BenchThatStoppedAnywhereLeavesWholeSets) {
  (void)run(PhaseKind::precreate);
  std::uint64_t first = 0;
  for (const std::uint64_t most : {1U, 3U, 4U, 8U, 15U}) {
    const Verification verification = run(PhaseKind::bench, most);
    EXPECT_FALSE(verification.first) << to_line(*verification.first);
    first += (most + 7) / 8;
    EXPECT_EQ(state_.first, first);
    expect_objects(first);
  }
  EXPECT_FALSE(run(PhaseKind::bench).first) << "what was made after the stop is right, too";
}

TEST_F(MixedMetadataPhases, CleanupEmptiesEverySet) {
  (void)run(PhaseKind::precreate);
  (void)run(PhaseKind::bench);
  EXPECT_FALSE(run(PhaseKind::cleanup).first);
  EXPECT_EQ(meter_->operations(), 10U);
  EXPECT_FALSE(state_.has_sets);
  EXPECT_TRUE(test::names_in(set_path(0)).empty());
}

TEST_F(MixedMetadataPhases, PausesArePartOfNoLatency) {
  (void)run(PhaseKind::precreate);
  parameters_.waiting_factor = 30;
  const std::int64_t begun_ns = now_ns();
  (void)run(PhaseKind::bench);
  EXPECT_GE(now_ns() - begun_ns, 30 * static_cast<std::int64_t>(meter_->histogram().sum_ns()));
}

TEST_F(MixedMetadataPhases, ObjectOfAnotherNumberIsFoundAndNamed) {
  (void)run(PhaseKind::precreate);
  std::filesystem::copy_file(set_path(0) + "/file.mdtest.0.3", set_path(0) + "/file.mdtest.0.1",
                             std::filesystem::copy_options::overwrite_existing);
  const Verification verification = run(PhaseKind::bench);
  EXPECT_EQ(verification.bad_blocks, 8U) << "of 512 bytes, the last one in part";
  ASSERT_TRUE(verification.first);
  EXPECT_EQ(verification.first->where, set_path(0) + "/file.mdtest.0.1");
  EXPECT_EQ(verification.first->offset_bytes, 0U);
  EXPECT_FALSE(verification.first->found.empty());
}

TEST_F(MixedMetadataPhases, WithoutVerificationNothingIsFound) {
  (void)run(PhaseKind::precreate);
  test::write_file(set_path(1) + "/file.mdtest.0.0", std::string(3901, 'x'));
  parameters_.verify = Verify::none;
  EXPECT_FALSE(run(PhaseKind::bench).first);
}

/// Returns whose data a bench works on that follows `benches` others, on ranks that are on these nodes.
std::string data_of(const mpi::World& world, std::uint64_t stride, std::uint64_t benches) {
  MixedMetadataParameters parameters;
  parameters.stride = stride;
  StorageContext context;
  context.world = &world;
  MixedMetadataState state;
  state.parameters = &parameters;
  state.context = &context;
  state.benches = benches;
  return MixedMetadataPhase(state, PhaseKind::bench).info().data_of;
}

TEST(MpiMixedMetadataPhase, WorksOnWhatAnotherNodeMadeWhereThereIsOne) {
  const mpi::World together;
  const auto ranks = static_cast<std::uint64_t>(together.size());
  const std::string alone = ranks == 1 ? "own" : "other-rank";
  const mpi::World scattered("host" + std::to_string(together.rank()));
  for (const std::uint64_t benches : {0U, 1U, 2U}) {
    EXPECT_EQ(data_of(together, 0, benches), "own");
    EXPECT_EQ(data_of(together, 1, benches), alone);
    EXPECT_EQ(data_of(together, ranks, benches), "own") << "all the way around";
    EXPECT_EQ(data_of(scattered, 1, benches), ranks == 1 ? "own" : "other-node");
    EXPECT_EQ(data_of(scattered, ranks, benches), "own");
  }
}

}  // namespace ullage::mixed_metadata_phase_test
