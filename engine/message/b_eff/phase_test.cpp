// SPDX-License-Identifier: Apache-2.0
#include "message/b_eff/phase.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "base/signals.hpp"
#include "run/phase_runner.hpp"

namespace ullage::b_eff_phase_test {
namespace {

class MpiBEffPhase : public ::testing::Test {
 protected:
  MpiBEffPhase() : meter_(StopFlags::instance().now()), watchdog_({}) {
    StopFlags::instance().reset();
    context_.world = &world_;
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
    return run_phase({&world_, &clock_, &watchdog_, &meter_, {}, 0}, nullptr, phase, record_).status;
  }

  mpi::World world_;
  mpi::ClockSync clock_;
  Meter meter_;
  Watchdog watchdog_;
  WorkloadContext context_;
  BEffParameters parameters_;
  Json record_;
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
