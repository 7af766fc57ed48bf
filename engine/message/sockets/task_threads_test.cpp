// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/task_threads.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/clock.hpp"

namespace ullage::task_threads_test {
namespace {

/// Runs until it is woken, or until the stage is over; then it ends as it was told to.
class Waiting final : public StreamTask {
 public:
  explicit Waiting(Status outcome) : outcome_(std::move(outcome)) {}
  [[nodiscard]] Status run(const StageSign& stage) override {
    while (!woken_ && stage.get() != Stage::over) std::this_thread::yield();
    return outcome_;
  }
  void wake() override { woken_ = true; }
  void count(std::map<std::string, std::uint64_t>&) const override {}

 private:
  Status outcome_;
  std::atomic<bool> woken_ = false;
};

using Tasks = std::vector<std::unique_ptr<StreamTask>>;

Tasks tasks_of(Status first, Status second) {
  Tasks tasks;
  tasks.push_back(std::make_unique<Waiting>(std::move(first)));
  tasks.push_back(std::make_unique<Waiting>(std::move(second)));
  return tasks;
}

TEST(TaskThreads, EndWithTheStageAndTellTheFirstError) {
  const Tasks tasks = tasks_of({}, fail(unsupported("x", "y")));
  StageSign stage;
  TaskThreads threads(tasks, stage);
  EXPECT_FALSE(threads.ended_by(now_ns() + 1'000'000));
  stage.set(Stage::over);
  const Status outcome = threads.join(now_ns() + 60'000'000'000);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::unsupported);
}

TEST(TaskThreads, ThoseThatDoNotEndAreWokenAndThatIsAnError) {
  const Tasks tasks = tasks_of({}, {});
  const StageSign stage;
  TaskThreads threads(tasks, stage);
  const Status outcome = threads.join(now_ns() + 1'000'000);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().errno_value, ETIMEDOUT);
}

TEST(TaskThreads, NoneIsFineAndGoingAwayWakesThem) {
  const Tasks none;
  const StageSign stage;
  EXPECT_TRUE(TaskThreads(none, stage).join(now_ns()));
  const Tasks tasks = tasks_of({}, {});
  const TaskThreads left(tasks, stage);
}

}  // namespace
}  // namespace ullage::task_threads_test
