// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/stream_task.hpp"

#include <gtest/gtest.h>

namespace ullage::stream_task_test {

TEST(BlockCheck, BlocksDifferByKeyRankAndStream) {
  const auto block = keyed_block(1, 2, 3, 100);
  EXPECT_EQ(block.size(), 100U);
  EXPECT_EQ(block, keyed_block(1, 2, 3, 100));
  EXPECT_NE(block, keyed_block(2, 2, 3, 100));
  EXPECT_NE(block, keyed_block(1, 3, 3, 100));
  EXPECT_NE(block, keyed_block(1, 2, 4, 100));
}

TEST(BlockCheck, AnyPieceOfTheRepeatedBlockIsRight) {
  const auto block = keyed_block(5, 0, 0, 13);
  std::vector<std::byte> stream;
  for (int i = 0; i < 5; ++i) stream.insert(stream.end(), block.begin(), block.end());
  BlockCheck check(block);
  check.check(0, std::span(stream).first(7));
  check.check(7, std::span(stream).subspan(7, 40));
  EXPECT_EQ(check.bad_pieces(), 0U);
  EXPECT_EQ(check.checked_bytes(), 47U);
}

TEST(BlockCheck, AByteInTheWrongPlaceIsFound) {
  const auto block = keyed_block(5, 0, 0, 13);
  BlockCheck check(block);
  check.check(13, block);
  EXPECT_EQ(check.bad_pieces(), 0U);
  check.check(14, block);  // all of it is one further than it should be
  EXPECT_EQ(check.bad_pieces(), 2U);
}

class Counted final : public StreamTask {
 public:
  [[nodiscard]] Status run(const StageSign&) override { return {}; }
  void wake() override {}
  void count(std::map<std::string, std::uint64_t>&) const override {}
  void reach(std::uint64_t bytes) { tally_.set(bytes); }
};

TEST(MeasuredWindow, CountsWholeMessagesOfItsTimeOnly) {
  std::vector<std::unique_ptr<StreamTask>> tasks;
  tasks.push_back(std::make_unique<Counted>());
  tasks.push_back(std::make_unique<Counted>());
  auto& first = static_cast<Counted&>(*tasks[0]);
  auto& second = static_cast<Counted&>(*tasks[1]);
  Meter meter;
  meter.start(now_ns());
  meter.use_histogram(false);
  first.reach(1000);
  MeasuredWindow window(tasks, 100);
  window.begin();
  first.reach(1250);
  window.look(meter);
  EXPECT_EQ(meter.operations(), 2U);
  EXPECT_EQ(meter.bytes(), 200U);
  second.reach(50);
  window.end(meter);
  EXPECT_EQ(meter.operations(), 3U);
  EXPECT_EQ(window.bytes(), 300U);
  EXPECT_GT(window.seconds(), 0);
  EXPECT_GE(window.cpu_seconds(), 0);
  second.reach(250);
  window.add_rest(meter);
  EXPECT_EQ(meter.operations(), 5U);
  EXPECT_EQ(window.bytes(), 300U);
}

TEST(MeasuredWindow, WithoutTasksItIsStillATime) {
  Meter meter;
  meter.start(now_ns());
  const std::vector<std::unique_ptr<StreamTask>> none;
  MeasuredWindow window(none, 1);
  window.begin();
  window.end(meter);
  EXPECT_EQ(window.bytes(), 0U);
  EXPECT_EQ(meter.operations(), 0U);
  EXPECT_GT(meter.progress(), 0U);
}

}  // namespace ullage::stream_task_test
