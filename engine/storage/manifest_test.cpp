// SPDX-License-Identifier: Apache-2.0
#include "storage/manifest.hpp"

#include <gtest/gtest.h>

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <nlohmann/json.hpp>

namespace ullage::manifest_test {

TEST(Manifest, NamesOfFiles) {
  const DatasetEntry shared{"abc", "c-abc", 1, false, false};
  EXPECT_EQ(shared.file_name(0), "c-abc/data");
  const DatasetEntry own{"abc", "c-abc", 4, true, false};
  EXPECT_EQ(own.file_name(3), "c-abc/data.00000003");
  EXPECT_EQ(own.directory_name(3), "c-abc");
  const DatasetEntry own_directory{"abc", "c-abc", 4, true, true};
  EXPECT_EQ(own_directory.file_name(123456789), "c-abc/123456789/data.123456789");
  EXPECT_EQ(own_directory.directory_name(7), "c-abc/00000007");
}

TEST(Manifest, DirectoriesAreCalledAsTheirDatasets) {
  EXPECT_EQ(directory_of_dataset("ior-easy"), "ior-easy");
  EXPECT_EQ(directory_of_dataset("00000000000000a1"), "c-00000000000000a1") << "a case id";
  EXPECT_EQ(directory_of_dataset("00000000000000A1"), "00000000000000A1");
  for (const char* directory : {"ior-easy", "c-ior-easy"}) {
    const DatasetEntry entry{"ior-easy", directory, 1, false, false};
    EXPECT_EQ(parse_manifest(manifest_line(entry)), std::vector<DatasetEntry>{entry});
  }
  EXPECT_TRUE(parse_manifest(manifest_line({"ior-easy", "ior-hard", 1, false, false})).empty());
}

TEST(Manifest, KnowsItsFilesByName) {
  const DatasetEntry shared{"abc", "c-abc", 1, false, false};
  EXPECT_TRUE(shared.has_file("data"));
  for (const char* name : {"", "dat", "data.0", "data.00000000"}) EXPECT_FALSE(shared.has_file(name)) << name;
  const DatasetEntry own{"abc", "c-abc", 4, true, false};
  EXPECT_TRUE(own.has_file("data.00000003"));
  for (const char* name : {"", "data", "data.", "data.00000004", "data.3", "data.00000003x", "3", "x.00000003"})
    EXPECT_FALSE(own.has_file(name)) << name;
}

RC_GTEST_PROP(Manifest, LinesComeBack, ()) {
  const std::string id =
      *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123456789abcdef"))));
  const DatasetEntry entry{id,
                           "c-" + id,
                           *rc::gen::inRange<std::uint64_t>(0, 1U << 24U),
                           *rc::gen::arbitrary<bool>(),
                           *rc::gen::arbitrary<bool>(),
                           std::nullopt,
                           *rc::gen::arbitrary<bool>()};
  const std::string line = manifest_line(entry);
  RC_ASSERT(line.find('\n') == line.size() - 1);
  RC_ASSERT(parse_manifest(line + line) == std::vector<DatasetEntry>{entry});
}

RC_GTEST_PROP(Manifest, CutAnywhereKeepsTheWholeLines, ()) {
  const DatasetEntry first{"aa", "c-aa", 2, true, false};
  const DatasetEntry second{"bb", "c-bb", 3, false, false};
  const std::string whole = manifest_line(first) + manifest_line(second);
  const auto length = *rc::gen::inRange<std::size_t>(manifest_line(first).size(), whole.size() - 1);
  RC_ASSERT(parse_manifest(whole.substr(0, length)).front() == first);
  RC_ASSERT(parse_manifest(whole.substr(0, length)).size() == 1U + (length == whole.size() - 1));
}

TEST(Manifest, HostileAndDamagedLinesAreSkipped) {
  for (const char* line :
       {R"({"dataset":"x","directory":"../home","files":1})", R"({"dataset":"../x","directory":"c-../x","files":1})",
        R"({"dataset":"x","directory":"c-x/../y","files":1})", R"({"dataset":"x","directory":"c-x"})",
        R"({"dataset":"x","directory":"c-x","files":-1})", R"({"dataset":"x","directory":"c-x","files":9999999999999})",
        R"({"dataset":"","directory":"c-","files":1})", R"([1,2])", "garbage", "{", "null"})
    EXPECT_TRUE(parse_manifest(line).empty()) << line;
  EXPECT_TRUE(parse_manifest("").empty());
}

TEST(Manifest, TreesComeBack) {
  TreeShape tree;
  tree.ranks = 4;
  tree.items = 1000;
  tree.depth = 2;
  tree.branching = 3;
  tree.unique_directory = true;
  const DatasetEntry entry{"easy", "c-easy", 0, false, false, tree};
  EXPECT_EQ(parse_manifest(manifest_line(entry)), std::vector<DatasetEntry>{entry});
  tree.branching = 0;
  EXPECT_TRUE(parse_manifest(manifest_line({"easy", "c-easy", 0, false, false, tree})).empty());
  EXPECT_TRUE(parse_manifest(R"({"dataset":"easy","directory":"c-easy","tree":{"ranks":1}})").empty());
}

TEST(Manifest, FilesOfStepsComeBack) {
  DatasetEntry entry{.dataset = "states", .directory = "c-states"};
  for (const StepLayout layout : {StepLayout::flat, StepLayout::hashed, StepLayout::log}) {
    entry.steps = StepShape{72, 12'500, layout, 2};
    EXPECT_EQ(parse_manifest(manifest_line(entry)), std::vector<DatasetEntry>{entry});
  }
  for (const StepShape& wrong : {StepShape{0, 1, StepLayout::flat, 1}, StepShape{1, 0, StepLayout::flat, 1},
                                 StepShape{1, 1, StepLayout::hashed, 0}, StepShape{1, 1, StepLayout::hashed, 6}}) {
    entry.steps = wrong;
    EXPECT_TRUE(parse_manifest(manifest_line(entry)).empty());
  }
  EXPECT_TRUE(parse_manifest(R"({"dataset":"s","directory":"c-s","steps":{"ranks":1,"steps":1,"levels":1}})").empty());
  EXPECT_TRUE(
      parse_manifest(R"({"dataset":"s","directory":"..","steps":{"ranks":1,"steps":1,"levels":1,"layout":"flat"}})")
          .empty())
      << "a directory that is not the dataset's own";
}

TEST(Manifest, FilesOfAGridComeBack) {
  DatasetEntry entry{.dataset = "images", .directory = "c-images"};
  for (const ImageLayout layout : {ImageLayout::files, ImageLayout::containers})
    for (const bool shared : {false, true}) {
      entry.grid = ImageGrid{72, 64, 12, layout, 3, shared, 40};
      EXPECT_EQ(parse_manifest(manifest_line(entry)), std::vector<DatasetEntry>{entry});
    }
  for (const ImageGrid& wrong : {ImageGrid{.ranks = 0}, ImageGrid{.locations = ImageGrid::most_locations + 1}}) {
    entry.grid = wrong;
    EXPECT_TRUE(parse_manifest(manifest_line(entry)).empty());
  }
  EXPECT_TRUE(parse_manifest(R"({"dataset":"s","directory":"c-s","grid":{"ranks":1,"layout":"files"}})").empty());
  entry = {.dataset = "s", .directory = ".."};
  entry.grid = ImageGrid{};
  EXPECT_TRUE(parse_manifest(manifest_line(entry)).empty()) << "a directory that is not the dataset's own";
}

TEST(Manifest, LastFactsCountAndNullStrikesThem) {
  const std::string text = facts_line("a", {{"n", 1}}) + facts_line("b", {{"n", 2}}) + facts_line("a", {{"n", 3}}) +
                           manifest_line({"a", "c-a", 1, false, false, std::nullopt}) + facts_line("b", nullptr) +
                           R"({"dataset":"a","fac)";
  const auto facts = parse_facts(text);
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts.at("a")["n"], 3);
  EXPECT_EQ(parse_manifest(text).size(), 1U) << "facts are no entries";
}

TEST(Marker, ComesBackAndRefusesOthers) {
  const auto marker = parse_marker(marker_text({"run-1", "00ff"}));
  ASSERT_TRUE(marker);
  EXPECT_EQ(marker->run_id, "run-1");
  EXPECT_EQ(marker->nonce, "00ff");
  for (const char* text : {"", "{}", "run-1", R"({"run_id":"x"})", R"({"run_id":1,"nonce":"a"})", R"(["run_id"])"})
    EXPECT_FALSE(parse_marker(text)) << text;
}

TEST(Marker, NoncesDiffer) {
  const std::string nonce = new_nonce();
  EXPECT_EQ(nonce.size(), 32U);
  EXPECT_EQ(nonce.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(nonce, new_nonce());
}

}  // namespace ullage::manifest_test
