// SPDX-License-Identifier: Apache-2.0
#include "storage/step_shape.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "storage/test_support.hpp"

namespace ullage::step_shape_test {

constexpr StepLayout layouts[] = {StepLayout::flat, StepLayout::dir_per_rank, StepLayout::dir_per_step,
                                  StepLayout::hashed, StepLayout::log};

StepShape shape(StepLayout layout, std::uint64_t levels = 2) { return {3, 40, layout, levels}; }

std::string base_of(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

TEST(StepShape, NamesSayRankAndStep) {
  EXPECT_EQ(test::path_of(shape(StepLayout::flat), 2, 17), "s.2.17");
  EXPECT_EQ(test::path_of(shape(StepLayout::dir_per_rank), 2, 17), "r.2/s.2.17");
  EXPECT_EQ(test::path_of(shape(StepLayout::dir_per_step), 2, 17), "t.17/s.2.17");
  EXPECT_EQ(test::path_of(shape(StepLayout::log), 2, 17), "log.2");
}

TEST(StepShape, EveryFileHasAPathOfItsOwnInADirectoryOfTheShape) {
  for (const StepLayout layout : layouts) {
    const StepShape steps = shape(layout);
    std::set<std::string> directories{""};
    for (std::uint64_t i = 0; i < steps.directory_count(); ++i) directories.insert(steps.directory_path(i) + "/");
    EXPECT_EQ(directories.size(), steps.directory_count() + 1) << word_of(layout);
    std::set<std::string> paths;
    for (std::uint64_t rank = 0; rank < steps.ranks; ++rank)
      for (std::uint64_t step = 0; step < steps.steps; ++step) {
        const std::string path = test::path_of(steps, rank, step);
        paths.insert(path);
        EXPECT_TRUE(directories.contains(path.substr(0, path.size() - base_of(path).size()))) << path;
        const auto item = steps.parse_item(base_of(path));
        ASSERT_TRUE(item.has_value()) << path;
        EXPECT_EQ(item->rank, rank);
        EXPECT_EQ(item->item, layout == StepLayout::log ? 0 : step);
      }
    EXPECT_EQ(paths.size(), steps.file_count()) << word_of(layout);
  }
}

TEST(StepShape, ADirectoryComesAfterTheOneItLiesIn) {
  const StepShape steps = shape(StepLayout::hashed, 3);
  EXPECT_EQ(steps.directory_count(), 16U + 256 + 4096);
  std::set<std::string> made{""};
  for (std::uint64_t i = 0; i < steps.directory_count(); ++i) {
    const std::string path = steps.directory_path(i);
    const std::size_t slash = path.find_last_of('/');
    EXPECT_TRUE(made.contains(slash == std::string::npos ? "" : path.substr(0, slash))) << path;
    EXPECT_TRUE(steps.is_directory_name(base_of(path))) << path;
    EXPECT_TRUE(made.insert(path).second) << path;
  }
}

TEST(StepShape, HashesSpreadEvenly) {
  const StepShape steps{16, 1000, StepLayout::hashed, 1};
  std::map<std::string, int> held;
  for (std::uint64_t rank = 0; rank < steps.ranks; ++rank)
    for (std::uint64_t step = 0; step < steps.steps; ++step) {
      const std::string path = test::path_of(steps, rank, step);
      ++held[path.substr(0, path.find('/'))];
    }
  EXPECT_EQ(held.size(), StepShape::fan_out);
  for (const auto& [directory, count] : held) {
    EXPECT_GT(count, 850) << directory;  // 5 standard deviations of a fair draw are 153
    EXPECT_LT(count, 1150) << directory;
  }
}

TEST(StepShape, NoOtherNameIsOurs) {
  for (const StepLayout layout : layouts)
    for (const char* name : {"", "s", "s.", "s.1", "s.1.", "s.1.40", "s.3.1", "s.01.1", "s.1.1.1", "s.1.1x", "s.-1.1",
                             "s.1. 1", "log.3", "log.", "log.01", "data", "mdtest_tree.0.0"})
      EXPECT_FALSE(shape(layout).parse_item(name).has_value()) << word_of(layout) << " " << name;
  EXPECT_FALSE(shape(StepLayout::log).parse_item("s.1.1").has_value());
  EXPECT_FALSE(shape(StepLayout::flat).parse_item("log.1").has_value());
  for (const char* name : {"r.3", "t.40", "h.16", "r.", "h.01", "x", ""})
    for (const StepLayout layout : layouts) EXPECT_FALSE(shape(layout).is_directory_name(name)) << name;
  EXPECT_FALSE(shape(StepLayout::flat).is_directory_name("r.1"));
  EXPECT_FALSE(shape(StepLayout::dir_per_step).is_directory_name("r.1"));
}

TEST(StepShape, WordsAreReadBack) {
  for (const StepLayout layout : layouts) EXPECT_EQ(enumerator_of<StepLayout>(word_of(layout)), layout);
  EXPECT_FALSE(enumerator_of<StepLayout>("Flat").has_value());
}

}  // namespace ullage::step_shape_test
