// SPDX-License-Identifier: Apache-2.0
#include "message/b_eff/phase.hpp"

#include <gtest/gtest.h>

#include "run/workload_test_support.hpp"

namespace ullage::b_eff_phase_test {
namespace {

class MpiBEffPhase : public test::MpiLaunch {
 protected:
  MpiBEffPhase() {
    parameters_.lmax_bytes = 4096;
    parameters_.random_rings = 1;
    parameters_.additional = false;
    parameters_.budget_s = 1e-6;
  }
  void SetUp() override {
    if (world_.size() < 2) GTEST_SKIP() << "one rank has nobody to send to";
  }
  PhaseStatus run_first(BEffRun& run) {
    BEffPhase phase(run, 0);
    return run_phase(phase).status;
  }

  BEffParameters parameters_;
};

TEST_F(MpiBEffPhase, OneThatIsStoppedEndsOnAllRanksTogether) {
  BEffRun run(parameters_, context_);
  run.find_peers();
  run.make_messages();
  if (world_.rank() == 0) StopFlags::instance().stop_now();
  EXPECT_EQ(run_first(run), PhaseStatus::interrupted);
  StopFlags::instance().reset();
  if (world_.root()) {
    EXPECT_EQ(record_["operations"], 2 * 3 * 7 * world_.size());
  }
}

TEST_F(MpiBEffPhase, WrongMessagesFailIt) {
  context_.run_key = static_cast<std::uint64_t>(world_.rank());
  BEffRun run(parameters_, context_);
  run.find_peers();
  run.make_messages();
  EXPECT_EQ(run_first(run), PhaseStatus::failed);
  if (!world_.root()) return;
  EXPECT_GT(record_["bad_blocks"], 0);
  EXPECT_NE(record_["failures"].dump().find(" by sendrecv, 1 bytes from rank"), std::string::npos);
}

TEST_F(MpiBEffPhase, InfoNamesTheSize) {
  BEffRun run(parameters_, context_);
  EXPECT_EQ(BEffPhase(run, 9).info().name, "size-09");
  EXPECT_EQ(BEffPhase(run, 10).info().name, "size-10");
  EXPECT_TRUE(BEffPhase(run, 0).info().collective);
}

}  // namespace
}  // namespace ullage::b_eff_phase_test
