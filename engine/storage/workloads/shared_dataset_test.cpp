// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/shared_dataset.hpp"

#include <gtest/gtest.h>

#include "storage/workloads/test_support.hpp"

namespace ullage::shared_dataset_test {
namespace {

class MpiSharedDataset : public test::StorageWorkloadTest {
 protected:
  MpiSharedDataset() : StorageWorkloadTest("t") {
    use("posix");
    context_ = context();
    context_.dataset = "t";
    context_.datasets = &book_;
    tree_.ranks = static_cast<std::uint64_t>(bench_.world().size());
    tree_.items = 10;
    entry_ = {"t", "c-t", 0, false, false, tree_};
  }
  void fill() const {
    const auto rank = static_cast<std::uint64_t>(bench_.world().rank());
    for (std::uint64_t i = 0; i < tree_.items; ++i)
      test::write_file(bench_.path("c-t/" + tree_.item_name(rank, i)), "x");
    bench_.world().all().barrier();
  }

  /// Collective: the first error of this rank.
  [[nodiscard]] Status together(const LocalSteps& steps) const {
    Status first;
    for (const LocalStep& step : steps) {
      bench_.world().all().barrier();
      const Status done = step.run();
      if (first && !done) first = done;
    }
    bench_.world().all().barrier();
    return first;
  }

  DatasetFacts book_;
  StorageContext context_;
  TreeShape tree_;
  DatasetEntry entry_;
};

TEST_F(MpiSharedDataset, FactsAreThoseOfTheSameLayoutOrNone) {
  const Json layout{{"n", 1}};
  EXPECT_EQ(facts_of_dataset(context_, layout).error().text, no_dataset("t").text);
  ASSERT_TRUE(book_.enter("t", {{"layout", layout}, {"key", 7}}));
  EXPECT_EQ(facts_of_dataset(context_, layout).value()["key"], 7);
  const auto other = facts_of_dataset(context_, {{"n", 2}});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().text, R"(was made as {"n":1}, but this case needs {"n":2})");
}

TEST_F(MpiSharedDataset, WhatAnEarlierVersionWroteIsRefused) {
  const Json layout{{"n", 1}};
  DatasetFacts earlier({{"t", {{"layout", layout}, {"key", 7}}}}, nullptr);
  context_.datasets = &earlier;
  const auto facts = facts_of_dataset(context_, layout);
  ASSERT_FALSE(facts);
  EXPECT_NE(facts.error().text.find("holds data of version 1"), std::string::npos) << facts.error().text;
}

TEST_F(MpiSharedDataset, TreeIsMadeAfreshAndRemovedByAll) {
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(together(steps_to_make_tree(context_, entry_)));
    EXPECT_TRUE(std::filesystem::is_empty(bench_.path("c-t"))) << "round " << round;
    bench_.world().all().barrier();
    fill();
  }
  ASSERT_TRUE(together(steps_to_remove_tree(context_, entry_)));
  EXPECT_FALSE(std::filesystem::exists(bench_.path("c-t")));
}

TEST_F(MpiSharedDataset, WhatIsNotOursStaysAndIsSaid) {
  ASSERT_TRUE(together(steps_to_make_tree(context_, entry_)));
  if (bench_.world().root()) test::write_file(bench_.path("c-t/precious"), "stays");
  bench_.world().all().barrier();
  const Status removed = together(steps_to_remove_tree(context_, entry_));
  EXPECT_EQ(removed.has_value(), !bench_.world().root());
  EXPECT_EQ(test::read_file(bench_.path("c-t/precious")), "stays");
}

TEST_F(MpiSharedDataset, SourceIsAPermutationThatSaysWhoseDataItIs) {
  const mpi::World& world = bench_.world();
  EXPECT_EQ(find_data_source(world, ReadBack::own, 1).rank, world.rank());
  for (const int shift : {1, 2, world.size()}) {
    const DataSource source = find_data_source(world, ReadBack::other_rank, shift);
    EXPECT_EQ(world.all().sum(static_cast<std::uint64_t>(source.rank)),
              world.all().sum(static_cast<std::uint64_t>(world.rank())));
    EXPECT_EQ(source.data_of, shift % world.size() == 0 ? "own" : "other-rank");
  }
}

TEST_F(MpiSharedDataset, ANoticeSaysThatDataIsNearerThanAsked) {
  const auto told = [](ReadBack asked, const std::string& data_of) {
    PhaseInfo info;
    tell_whose(asked, data_of, info, {"own", "same node"});
    return info.notices.empty() ? "" : info.notices.front().text;
  };
  EXPECT_EQ(told(ReadBack::other_node, "own"), "own");
  EXPECT_EQ(told(ReadBack::other_node, "other-rank"), "same node");
  EXPECT_EQ(told(ReadBack::other_node, "other-node"), "");
  EXPECT_EQ(told(ReadBack::other_rank, "other-rank"), "");
  EXPECT_EQ(told(ReadBack::own, "own"), "");
}

TEST_F(MpiSharedDataset, SyncingWaitsForTheRanksOfTheNode) {
  ASSERT_TRUE(together(steps_to_make_tree(context_, entry_)));
  fill();
  EXPECT_TRUE(sync_dataset(context_, entry_).has_value());
  EXPECT_TRUE(together(steps_to_remove_tree(context_, entry_)));
  if (bench_.world().topology().leader()) {
    EXPECT_FALSE(sync_file_system_of(*backend_, entry_.directory).has_value()) << "its directory is gone";
  }
}

TEST(FileSystemSync, SyncsADirectoryThatIsThereAndNamesOneThatIsNot) {
  test::Bench bench;
  const auto backend = bench.make("posix");
  ASSERT_TRUE(backend->make_directory("d"));
  EXPECT_TRUE(sync_file_system_of(*backend, "d"));
  const auto missing = sync_file_system_of(*backend, "none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().errno_value, ENOENT) << test::line_of(missing);
}

TEST(FileSystemSync, IsRefusedWithoutNames) {
  test::Bench bench;
  EXPECT_FALSE(sync_file_system_of(*bench.make("memory"), "d"));
}

}  // namespace

}  // namespace ullage::shared_dataset_test
