// SPDX-License-Identifier: Apache-2.0
// Workload `stream` as a plan has it.
#include "memory/test_support.hpp"

namespace ullage::stream_test {
namespace {

using test::MpiMemoryWorkload;

TEST_F(MpiMemoryWorkload, StreamMeasuresEveryThread) {
  const Values given{{"threads", std::int64_t{2}}, {"working_set_bytes", std::int64_t{6 * 4096}}};
  ASSERT_EQ(run("stream", given), PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(sum("threads"), 2.0 * world_.size());
  EXPECT_EQ(sum("used_bytes"), 6.0 * 4096 * world_.size());
  EXPECT_EQ(sum("application_bytes"), record_["bytes"].get<double>());
  EXPECT_DOUBLE_EQ(sum("bus_bytes") / sum("application_bytes"), 4.0 / 3);
  EXPECT_GE(sum("vector_bytes"), 16.0 * world_.size());
}

TEST_F(MpiMemoryWorkload, StreamWithHugePagesSaysWhatCameOfThem) {
  const Values given{{"working_set_bytes", std::int64_t{1} << 22}, {"pages", std::string("huge")}};
  ASSERT_EQ(run("stream", given), PhaseStatus::ok);
  const Values small{{"working_set_bytes", std::int64_t{1} << 22}, {"pages", std::string("small")}};
  const double most = world_.root() ? sum("huge_bytes") : 0;
  EXPECT_LE(most, world_.size() * 6.0 * (1 << 20));  // whole pages, with what is between the arrays
  ASSERT_EQ(run("stream", small), PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(sum("huge_bytes"), 0);
}

TEST_F(MpiMemoryWorkload, StreamOnANodeThatIsNotThereFailsWithALine) {
  EXPECT_EQ(run("stream", {{"cpu_node", std::int64_t{1000}}}), PhaseStatus::failed);
  EXPECT_EQ(run("stream", {{"memory_node", std::int64_t{1000}}}), PhaseStatus::failed);
}

TEST_F(MpiMemoryWorkload, StreamTooLargeForTheMachineFailsBeforeItsTimer) {
  EXPECT_EQ(run("stream", {{"working_set_bytes", std::int64_t{1} << 49}}), PhaseStatus::failed);
}

TEST_F(MpiMemoryWorkload, StreamRefusesWhatCannotBe) {
  EXPECT_EQ(refusal("stream", {}), "");
  EXPECT_NE(refusal("stream", {{"working_set_bytes", std::int64_t{128}}}).find("/p/working_set_bytes"),
            std::string::npos);
}

TEST_F(MpiMemoryWorkload, StreamNeedsNoStorageAndSaysWhichLoopsItHas) {
  EXPECT_FALSE(entry("stream").works_on_storage());
  const auto& words = entry("stream").description.capabilities;
  EXPECT_NE(std::ranges::find(words, "loops:baseline"), words.end());
}

}  // namespace
}  // namespace ullage::stream_test
