// SPDX-License-Identifier: Apache-2.0
#include "storage/image_grid.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace ullage::image_grid_test {

constexpr ImageLayout layouts[] = {ImageLayout::files, ImageLayout::containers};

ImageGrid shape(ImageLayout layout, bool shared = false) { return {3, 16, 5, layout, 2, shared, 40}; }

std::string base_of(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::vector<std::string> paths_of(const ImageGrid& grid) {
  std::vector<std::string> paths;
  for (std::uint64_t writer = 0; writer < grid.raw_writers(); ++writer)
    for (std::uint64_t i = 0; i < grid.raw_files; ++i) paths.push_back(grid.raw_path(writer, i));
  for (std::uint64_t i = 0; i < grid.templates; ++i) paths.push_back(grid.template_path(i));
  for (std::uint64_t location = 0; location < grid.locations; ++location)
    for (std::uint64_t time = 0; time < grid.depth; ++time) paths.push_back(grid.image_path(location, time));
  for (std::uint64_t rank = 0; rank < grid.ranks; ++rank) {
    paths.push_back(grid.detections_path(rank));
    paths.push_back(grid.records_path(rank));
  }
  return paths;
}

TEST(ImageGrid, NamesSayWhatTheyAreOf) {
  EXPECT_EQ(shape(ImageLayout::files).image_path(7, 4), "l.7/i.7.4");
  EXPECT_EQ(shape(ImageLayout::containers).image_path(7, 4), "c.7");
  EXPECT_EQ(shape(ImageLayout::files).raw_path(2, 1), "raw.2.1");
  EXPECT_EQ(shape(ImageLayout::files).template_path(39), "template.39");
  EXPECT_EQ(shape(ImageLayout::files).detections_path(1), "detections.1");
  EXPECT_EQ(shape(ImageLayout::files).records_path(1), "records.1");
}

TEST(ImageGrid, EveryFileHasAPathOfItsOwnThatIsKnownAgain) {
  for (const ImageLayout layout : layouts)
    for (const bool shared : {false, true}) {
      const ImageGrid grid = shape(layout, shared);
      std::set<std::string> directories{""};
      for (std::uint64_t i = 0; i < grid.directory_count(); ++i) {
        EXPECT_TRUE(grid.is_directory_name(grid.directory_path(i)));
        directories.insert(grid.directory_path(i) + "/");
      }
      std::set<std::string> different;
      for (const std::string& path : paths_of(grid)) {
        different.insert(path);
        EXPECT_TRUE(directories.contains(path.substr(0, path.size() - base_of(path).size()))) << path;
        EXPECT_TRUE(grid.parse_item(base_of(path)).has_value()) << path;
      }
      EXPECT_EQ(different.size(), grid.file_count()) << word_of(layout) << shared;
    }
}

TEST(ImageGrid, NoOtherNameIsOurs) {
  for (const ImageLayout layout : layouts)
    for (const char* name : {"", "raw", "raw.0", "raw.3.0", "raw.0.2", "template.40", "i.16.0", "i.0.5", "c.16", "l.16",
                             "detections.3", "records.3", "records.01", "detections.", "data", "s.0.0", "i.0.0.tmp"})
      EXPECT_FALSE(shape(layout).parse_item(name).has_value()) << word_of(layout) << " " << name;
  EXPECT_FALSE(shape(ImageLayout::files).parse_item("c.1").has_value());
  EXPECT_FALSE(shape(ImageLayout::containers).parse_item("i.1.1").has_value());
  EXPECT_FALSE(shape(ImageLayout::files, true).parse_item("raw.1.0").has_value());
  EXPECT_FALSE(shape(ImageLayout::containers).is_directory_name("l.1"));
  for (const char* name : {"l.16", "l.", "l.01", "x", ""})
    EXPECT_FALSE(shape(ImageLayout::files).is_directory_name(name));
}

TEST(ImageGrid, WordsAreReadBack) {
  for (const ImageLayout layout : layouts) EXPECT_EQ(enumerator_of<ImageLayout>(word_of(layout)), layout);
  EXPECT_FALSE(enumerator_of<ImageLayout>("Files").has_value());
}

}  // namespace ullage::image_grid_test
