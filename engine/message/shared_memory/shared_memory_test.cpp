// SPDX-License-Identifier: Apache-2.0
// Workload `shared-memory` as a plan has it.
#include "message/shared_memory/shared_memory.hpp"

#include <thread>

#include "run/workload_test_support.hpp"

namespace ullage::shared_memory_test {

class MpiSharedMemoryWorkload : public test::MpiLaunch {};

TEST(SharedMemoryCopies, EachRankCopiesFromTheOneBeforeOrHalfOfThemOrOne) {
  for (const int ranks : {2, 3, 4, 5}) {
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(copied_rank(Copiers::all, rank, ranks), rank == 0 ? ranks - 1 : rank - 1);
      EXPECT_EQ(copied_rank(Copiers::one, rank, ranks), rank == ranks - 1 ? 0 : -1);
      const int half = ranks / 2;
      EXPECT_EQ(copied_rank(Copiers::half, rank, ranks), rank < half || rank == 2 * half ? -1 : rank - half);
    }
  }
}

TEST(SharedMemoryLine, TakesAsLongAsItTakesAndEndsWithTheLastAnswer) {
  PassedLine line;
  for (int round = 0; round < 2; ++round) {
    line.clear();
    double line_s = 0;
    std::jthread other([&] { line.answer(); });
    line_s = line.ask();
    other.join();
    EXPECT_GT(line_s, 0);
  }
}

TEST_F(MpiSharedMemoryWorkload, SharedMemoryNeedsTwoRanksAndNoStorage) {
  EXPECT_FALSE(entry("shared-memory").works_on_storage());
  EXPECT_EQ(refusal("shared-memory", {}, 2), "");
  EXPECT_NE(refusal("shared-memory", {}, 1).find("two ranks or more"), std::string::npos);
}

TEST_F(MpiSharedMemoryWorkload, SharedMemoryCopiesWhatTheOtherRankHasWritten) {
  if (world_.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const std::map<std::string, int> copiers{{"one", 1}, {"half", world_.size() / 2}, {"all", world_.size()}};
  for (const auto& [word, count] : copiers)
    for (const std::int64_t bytes : {1, 8, 4099, 100'000}) {
      const Values given{{"copiers", word}, {"message_bytes", bytes}, {"buffers", 3}};
      ASSERT_EQ(run("shared-memory", brief(given)), PhaseStatus::ok) << word << " " << bytes;
      if (!world_.root()) continue;
      EXPECT_EQ(gauge("copiers"), count);
      EXPECT_GT(gauge("least_copy_s"), 0);
      EXPECT_GT(gauge("least_line_s"), 0);
      EXPECT_LE(gauge("least_line_s"), gauge("most_line_s"));
      // In a window of few calls not every buffer is copied to.
      const auto verified = records_.front()["verified_bytes"].get<std::int64_t>();
      EXPECT_GE(verified, count * bytes);
      EXPECT_LE(verified, 3 * count * bytes);
    }
}

TEST_F(MpiSharedMemoryWorkload, SharedMemoryIsNotAvailableToRanksOfSeveralNodes) {
  if (world_.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const mpi::World apart("node" + std::to_string(world_.rank() % 2));
  WorkloadContext context;
  context.world = &apart;
  SharedMemoryPhase phase({}, context);
  ASSERT_EQ(run_phase(phase).status, PhaseStatus::ok) << record_.dump();
  if (!world_.root()) return;
  EXPECT_NE(record_["facts"]["unavailable"].get<std::string>().find("on 2 nodes"), std::string::npos);
  EXPECT_EQ(gauge("least_copy_s"), 0);
  EXPECT_EQ(gauge("least_line_s"), 0);
}

}  // namespace ullage::shared_memory_test
