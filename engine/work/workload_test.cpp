// SPDX-License-Identifier: Apache-2.0
#include "work/workload.hpp"

#include <gtest/gtest.h>

namespace ullage::workload_test {

/// Notes which of its steps were done; chosen ones fail.
class Noting final : public Workload {
 public:
  Noting(std::size_t steps, std::size_t failing) : steps_(steps), failing_(failing) {}
  void find_peers() override { done.emplace_back("peers"); }
  [[nodiscard]] LocalSteps begin() override { return steps("begin"); }
  [[nodiscard]] std::size_t phases() const override { return 0; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t) override { return nullptr; }
  [[nodiscard]] LocalSteps end(bool whole) override { return steps(whole ? "end" : "undo"); }

  std::vector<std::string> done;

 private:
  [[nodiscard]] LocalSteps steps(const std::string& word) {
    LocalSteps made;
    for (std::size_t i = 0; i < steps_; ++i)
      made.push_back({word, [this, word, i]() -> Status {
                        done.push_back(word + std::to_string(i));
                        if (i == failing_) return fail(errno_error(EDQUOT, "write", "/m"));
                        return {};
                      }});
    return made;
  }
  std::size_t steps_;
  std::size_t failing_;
};

constexpr std::size_t never = 99;

class MpiWorkloadSteps : public ::testing::Test {
 protected:
  [[nodiscard]] bool is_guilty() const { return all_.rank() == all_.size() - 1; }
  mpi::Comm all_ = mpi::Comm::world();
};

TEST_F(MpiWorkloadSteps, AreAllDoneWhereNoneFails) {
  Noting workload(2, never);
  EXPECT_TRUE(begin_together(workload, all_).everywhere);
  EXPECT_TRUE(end_together(workload, true, all_).everywhere);
  EXPECT_EQ(workload.done, (std::vector<std::string>{"peers", "begin0", "begin1", "end0", "end1"}));
}

TEST_F(MpiWorkloadSteps, NoRankBeginsAStepAfterOneThatFailedAnywhere) {
  Noting workload(3, is_guilty() ? 1 : never);
  const mpi::Agreement begun = begin_together(workload, all_);
  EXPECT_FALSE(begun.everywhere);
  EXPECT_EQ(begun.own.has_value(), !is_guilty());
  EXPECT_EQ(workload.done, (std::vector<std::string>{"peers", "begin0", "begin1"}));
}

TEST_F(MpiWorkloadSteps, OfTheEndAreDoneAlsoAfterOneThatFailed) {
  Noting workload(3, is_guilty() ? 0 : never);
  const mpi::Agreement ended = end_together(workload, false, all_);
  EXPECT_FALSE(ended.everywhere);
  EXPECT_EQ(ended.own.has_value(), !is_guilty());
  EXPECT_EQ(workload.done, (std::vector<std::string>{"undo0", "undo1", "undo2"}));
}

TEST_F(MpiWorkloadSteps, RankWithFewerOfThemStaysWithTheOthers) {
  Noting workload(is_guilty() ? 1 : 3, never);
  EXPECT_TRUE(begin_together(workload, all_).everywhere);
  EXPECT_TRUE(end_together(workload, true, all_).everywhere);
  all_.barrier();
}

TEST(WorkloadRegistry, ListsEachWorkloadOnceAndInOrder) {
  const auto& all = Registry<WorkloadEntry>::instance().all();
  const auto name = [](const WorkloadEntry& entry) -> const std::string& { return entry.description.name; };
  EXPECT_GT(all.size(), 1U);
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, name));
  EXPECT_EQ(std::ranges::adjacent_find(all, {}, name), all.end());
}

}  // namespace ullage::workload_test
