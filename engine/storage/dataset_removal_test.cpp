// SPDX-License-Identifier: Apache-2.0
#include "storage/dataset_removal.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::dataset_removal_test {

namespace fs = std::filesystem;

TreeShape small_tree() {
  TreeShape shape;
  shape.ranks = 3;
  shape.items = 40;
  shape.depth = 2;
  shape.branching = 2;
  return shape;
}

class DatasetRemoval : public ::testing::Test {
 protected:
  void make() const {
    const TreeShape& shape = *entry_.tree;
    for (std::uint64_t i = 0; i < shape.directory_count(); ++i)
      fs::create_directories(bench_.path(entry_.directory + "/" + shape.directory_path(0, i)));
    for (std::uint64_t rank = 0; rank < shape.ranks; ++rank)
      for (std::uint64_t item = 0; item < shape.items; ++item)
        test::write_file(bench_.path(entry_.directory + "/" + shape.directory_path(0, shape.directory_of_item(item)) +
                                     "/" + shape.item_name(rank, item, item % 2 == 0)),
                         "x");
  }
  Leftovers remove(Part part) const {
    Leftovers leftovers;
    bench_.folder().remove_dataset(entry_, part, leftovers);
    return leftovers;
  }

  test::Bench bench_;
  DatasetEntry entry_{"t", "c-t", 0, false, false, small_tree()};
};

TEST_F(DatasetRemoval, TakesAWholeTree) {
  make();
  const Leftovers leftovers = remove({});
  EXPECT_TRUE(leftovers.left.empty());
  EXPECT_EQ(leftovers.removed_files, 120U);
  EXPECT_FALSE(fs::exists(bench_.path("c-t")));
}

TEST_F(DatasetRemoval, PartsTakeEveryItemOnceAndNoDirectory) {
  make();
  std::uint64_t removed = 0;
  for (int part = 0; part < 4; ++part) removed += remove({part, 4, true}).removed_files;
  EXPECT_EQ(removed, 120U);
  EXPECT_TRUE(fs::is_directory(bench_.path("c-t/" + entry_.tree->directory_path(0, 6))));
  EXPECT_EQ(remove({}).removed_files, 0U);
  EXPECT_FALSE(fs::exists(bench_.path("c-t")));
}

TEST_F(DatasetRemoval, LeavesWhatIsNoneOfTheTrees) {
  make();
  const std::string foreign = "c-t/" + entry_.tree->directory_path(0, 3) + "/precious";
  test::write_file(bench_.path(foreign), "stays");
  test::write_file(bench_.path("c-t/file.mdtest.9.0"), "stays: no such rank");
  fs::create_directory_symlink(bench_.folder().path(), bench_.path("c-t/mdtest_tree.0.1"));
  const Leftovers leftovers = remove({});
  EXPECT_EQ(leftovers.removed_files, 120U);
  EXPECT_EQ(test::read_file(bench_.path(foreign)), "stays");
  EXPECT_TRUE(fs::exists(bench_.path("c-t/file.mdtest.9.0")));
  EXPECT_TRUE(fs::is_symlink(bench_.path("c-t/mdtest_tree.0.1"))) << "neither followed nor removed";
  EXPECT_TRUE(std::ranges::any_of(leftovers.left, [](const std::string& line) {
    return line.find("/precious: it is in no manifest") != std::string::npos;
  }));
}

/// The one file of a dataset, with side files of its shared pointer as libraries leave them.
class SideFileRemoval : public ::testing::Test {
 protected:
  SideFileRemoval() {
    fs::create_directories(bench_.path("c-s"));
    for (const char* name : {"data", ".data.shfp.123.456", "data-12-34.lock", "data.data.0", "data.metadata.0"})
      test::write_file(bench_.path(std::string("c-s/") + name), "x");
  }
  [[nodiscard]] Leftovers remove(bool side_files, Part part = {}) const {
    Leftovers leftovers;
    bench_.folder().remove_dataset({"s", "c-s", 1, false, false, std::nullopt, side_files}, part, leftovers);
    return leftovers;
  }

  test::Bench bench_;
};

TEST_F(SideFileRemoval, TakesThemWithTheFile) {
  EXPECT_EQ(remove(true, {0, 1, true}).removed_files, 1U);
  EXPECT_EQ(test::names_in(bench_.path("c-s")).size(), 4U) << "they go with the directory";
  const Leftovers leftovers = remove(true);
  EXPECT_TRUE(leftovers.left.empty());
  EXPECT_FALSE(fs::exists(bench_.path("c-s")));
}

TEST_F(SideFileRemoval, LeavesThemWhereTheManifestSaysNothingOfThem) {
  EXPECT_EQ(remove(false).left.size(), 1U);
  EXPECT_EQ(test::names_in(bench_.path("c-s")).size(), 4U);
}

TEST_F(SideFileRemoval, TakesThoseOfOwnFilesToo) {
  for (const char* name : {"data.00000000", "data.00000001", "data.00000001-5-6.lock", "data.00000002-5-6.lock"})
    test::write_file(bench_.path(std::string("c-s/") + name), "x");
  Leftovers leftovers;
  bench_.folder().remove_dataset({"s", "c-s", 2, true, false, std::nullopt, true}, {}, leftovers);
  EXPECT_EQ(test::names_in(bench_.path("c-s")),
            (std::vector<std::string>{".data.shfp.123.456", "data", "data-12-34.lock", "data.00000002-5-6.lock",
                                      "data.data.0", "data.metadata.0"}))
      << "the others are of no file of this dataset";
}

TEST_F(SideFileRemoval, TakesNothingElse) {
  test::write_file(bench_.path("precious"), "stays");
  fs::create_symlink(bench_.path("precious"), bench_.path("c-s/data-5-6.lock"));
  fs::create_directory(bench_.path("c-s/.data.shfp.7.8"));
  test::write_file(bench_.path("c-s/data.log"), "mine");
  const Leftovers leftovers = remove(true);
  EXPECT_EQ(test::names_in(bench_.path("c-s")), (std::vector<std::string>{".data.shfp.7.8", "data.log"}));
  EXPECT_EQ(test::read_file(bench_.path("precious")), "stays") << "a link is not followed";
  EXPECT_EQ(leftovers.left.size(), 2U) << "the directory that only looks like one, and the dataset's own";
}

TEST_F(DatasetRemoval, NothingThereIsNoLeftover) { EXPECT_TRUE(remove({}).left.empty()); }

TEST_F(DatasetRemoval, LeftoversAreFew) {
  Leftovers leftovers;
  for (int i = 0; i < 100; ++i) leftovers.note("n", "reason");
  EXPECT_EQ(leftovers.left.size(), Leftovers::most_left);
}

DatasetEntry states(StepLayout layout) {
  DatasetEntry entry{.dataset = "s", .directory = "c-s"};
  entry.steps = StepShape{2, 9, layout, 2};
  return entry;
}

void make_states(const test::Bench& bench, const DatasetEntry& entry) {
  const StepShape& shape = *entry.steps;
  fs::create_directories(bench.path(entry.directory));
  for (std::uint64_t i = 0; i < shape.directory_count(); ++i)
    fs::create_directories(bench.path(entry.directory + "/" + shape.directory_path(i)));
  for (std::uint64_t rank = 0; rank < shape.ranks; ++rank)
    for (std::uint64_t step = 0; step < shape.steps; ++step)
      test::write_file(bench.path(entry.directory + "/" + test::path_of(shape, rank, step)), "x");
}

TEST(StatesRemoval, TakesEveryLayoutWholeAndInParts) {
  for (const StepLayout layout :
       {StepLayout::flat, StepLayout::dir_per_rank, StepLayout::dir_per_step, StepLayout::hashed, StepLayout::log}) {
    const test::Bench bench;
    const DatasetEntry entry = states(layout);
    make_states(bench, entry);
    Leftovers parts;
    for (int part = 0; part < 3; ++part) bench.folder().remove_dataset(entry, {part, 3, true}, parts);
    EXPECT_EQ(parts.removed_files, entry.steps->file_count()) << word_of(layout);
    Leftovers rest;
    bench.folder().remove_dataset(entry, {}, rest);
    EXPECT_TRUE(parts.left.empty() && rest.left.empty()) << word_of(layout);
    EXPECT_EQ(rest.removed_files, 0U) << word_of(layout);
    EXPECT_FALSE(fs::exists(bench.path("c-s"))) << word_of(layout);
  }
}

TEST(StatesRemoval, LeavesAndReportsWhatIsNotOurs) {
  const test::Bench bench;
  const DatasetEntry entry = states(StepLayout::dir_per_rank);
  make_states(bench, entry);
  for (const char* foreign : {"c-s/r.1/s.1.9", "c-s/precious", "c-s/r.0/s.0.1.old"})
    test::write_file(bench.path(foreign), "keep");
  Leftovers leftovers;
  bench.folder().remove_dataset(entry, {}, leftovers);
  EXPECT_EQ(leftovers.removed_files, 18U);
  for (const char* foreign : {"c-s/r.1/s.1.9", "c-s/precious", "c-s/r.0/s.0.1.old"})
    EXPECT_TRUE(fs::exists(bench.path(foreign))) << foreign;
  EXPECT_GE(leftovers.left.size(), 3U);
}

TEST(ImageGridRemoval, TakesBothLayoutsInPartsAndLeavesWhatIsNotOurs) {
  for (const ImageLayout layout : {ImageLayout::files, ImageLayout::containers}) {
    const test::Bench bench;
    DatasetEntry entry{.dataset = "g", .directory = "c-g"};
    entry.grid = ImageGrid{2, 4, 3, layout, 1, false, 2};
    const ImageGrid& grid = *entry.grid;
    const auto make = [&](const std::string& path) { test::write_file(bench.path("c-g/" + path), "x"); };
    fs::create_directories(bench.path("c-g"));
    for (std::uint64_t i = 0; i < grid.directory_count(); ++i)
      fs::create_directories(bench.path("c-g/" + grid.directory_path(i)));
    for (std::uint64_t location = 0; location < 4; ++location)
      for (std::uint64_t time = 0; time < 3; ++time) make(grid.image_path(location, time));
    for (std::uint64_t i = 0; i < 2; ++i)
      for (const auto& path :
           {grid.raw_path(i, 0), grid.template_path(i), grid.detections_path(i), grid.records_path(i)})
        make(path);
    make("detections.2");
    Leftovers parts;
    for (int part = 0; part < 3; ++part) bench.folder().remove_dataset(entry, {part, 3, true}, parts);
    EXPECT_EQ(parts.removed_files, grid.file_count()) << word_of(layout);
    Leftovers rest;
    bench.folder().remove_dataset(entry, {}, rest);
    EXPECT_EQ(rest.removed_files, 0U) << word_of(layout);
    EXPECT_EQ(test::names_in(bench.path("c-g")), std::vector<std::string>{"detections.2"}) << word_of(layout);
    EXPECT_FALSE(rest.left.empty());
  }
}

}  // namespace ullage::dataset_removal_test
