// SPDX-License-Identifier: Apache-2.0
// Folders of ours that somebody mounts something on, moves or removes while a run is at work in them.
#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::mounted_over_test {

namespace fs = std::filesystem;
using test::BindMount;

constexpr const char* not_permitted = "mounting is not permitted here";

class MountedOver : public test::OnTarget {
 protected:
  MountedOver() : folder_(made()) {
    test::write_file(victim_.path() + "/data.00000000", "precious");
    fs::create_directory(victim_.path() + "/mdtest_tree.0.0");
    test::write_file(victim_.path() + "/file.mdtest.0.0", "precious");
  }
  void expect_victim_untouched() const {
    EXPECT_EQ(test::names_in(victim_.path()),
              (std::vector<std::string>{"data.00000000", "file.mdtest.0.0", "mdtest_tree.0.0"}));
    EXPECT_EQ(test::read_file(victim_.path() + "/data.00000000"), "precious");
  }
  void make_files() const {
    ASSERT_TRUE(folder_.list_dataset({"aa", "c-aa", 2, true, false}));
    ASSERT_TRUE(folder_.make_directory("c-aa"));
    for (const char* name : {"c-aa/data.00000000", "c-aa/data.00000001"})
      ASSERT_TRUE(folder_.open_file(name, O_WRONLY | O_CREAT | O_EXCL));
  }
  [[nodiscard]] std::string left() {
    const auto removed = folder_.remove_listed();
    EXPECT_TRUE(removed) << test::line_of(removed);
    std::string lines;
    if (removed)
      for (const std::string& line : removed->left) lines += line + "\n";
    return lines;
  }

  test::TempFolder victim_;
  RunFolder folder_;
};

TEST_F(MountedOver, NothingIsOpenedBelowAMount) {
  const test::TempFolder outer;
  fs::create_directories(outer.path() + "/in/deep");
  test::write_file(outer.path() + "/in/file", "");
  const BindMount on_folder(victim_.path(), outer.path() + "/in/deep");
  const BindMount on_file(victim_.path() + "/data.00000000", outer.path() + "/in/file");
  if (!on_folder.mounted() || !on_file.mounted()) GTEST_SKIP() << not_permitted;
  const Descriptor root(::open((outer.path() + "/in").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (const auto open : {&open_beneath, &open_by_component})
    for (const char* name : {"deep/data.00000000", "deep", "file"}) {
      const auto opened = open(root.get(), name, O_RDONLY, 0);
      EXPECT_EQ(opened ? 0 : opened.error(), EXDEV) << name;
    }
}

TEST_F(MountedOver, RemovalStopsAtADatasetThatIsMountedOn) {
  make_files();
  {
    const BindMount over(victim_.path(), own() + "/c-aa");
    if (!over.mounted()) GTEST_SKIP() << not_permitted;
    EXPECT_EQ(left(), own() + "/c-aa: another file system is mounted on it, so it was not touched\n");
    EXPECT_FALSE(folder_.open_file("c-aa/data.00000000", O_WRONLY));
    expect_victim_untouched();
  }
  EXPECT_TRUE(fs::exists(own() + "/c-aa/data.00000000"));
  EXPECT_EQ(left(), "");
  EXPECT_FALSE(fs::exists(own()));
}

TEST_F(MountedOver, RemovalOfATreeStopsAtADirectoryThatIsMountedOn) {
  DatasetEntry entry{.dataset = "t", .directory = "c-t"};
  entry.tree = TreeShape{.ranks = 1, .items = 4, .items_per_directory = 1, .depth = 1, .branching = 1};
  ASSERT_TRUE(folder_.list_dataset(entry));
  const std::string inner = "c-t/" + entry.tree->directory_path(0, 1);
  fs::create_directories(own() + "/" + inner);
  {
    const BindMount over(victim_.path(), own() + "/" + inner);
    if (!over.mounted()) GTEST_SKIP() << not_permitted;
    EXPECT_NE(left().find(inner + ": another file system is mounted on it, so it was not touched\n"),
              std::string::npos);
    expect_victim_untouched();
  }
  EXPECT_EQ(left(), "");
  EXPECT_FALSE(fs::exists(own()));
}

TEST_F(MountedOver, FolderThatIsMountedOnIsKeptForLater) {
  make_files();
  {
    const BindMount over(victim_.path(), own());
    if (!over.mounted()) GTEST_SKIP() << not_permitted;
    EXPECT_FALSE(folder_.checked_path("c-aa/data.00000000"));
    EXPECT_EQ(left(), own() + ": is no longer the folder that this run opened: another file system is mounted on it\n");
    EXPECT_NE(test::line_of(RunFolder::open_existing(own())).find("another file system mounted"), std::string::npos);
    EXPECT_NE(test::line_of(RunFolder::remove_unmarked(own())).find("another file system mounted"), std::string::npos);
    expect_victim_untouched();
  }
  EXPECT_EQ(test::names_in(own()), (std::vector<std::string>{".ullage-run", "manifest.ndjson"}));
  EXPECT_EQ(left(), "");
  EXPECT_FALSE(fs::exists(own()));
}

TEST_F(MountedOver, MovedFolderIsToldAndKnownAgainWhenItIsBack) {
  make_files();
  const std::string moved = target_.path() + "/moved";
  fs::rename(own(), moved);
  EXPECT_EQ(left(), own() + ": is no longer the folder that this run opened: it was moved to " + moved + "\n");
  EXPECT_EQ(test::names_in(moved), (std::vector<std::string>{".ullage-run", "manifest.ndjson"}));
  fs::create_directory(own());
  EXPECT_NE(left(), "") << "another folder in its place is not ours";
  EXPECT_TRUE(fs::exists(own()));
  fs::remove(own());
  fs::rename(moved, own());
  EXPECT_EQ(left(), "");
  EXPECT_FALSE(fs::exists(own()));
}

TEST_F(MountedOver, FolderThatSomebodyRemovedIsTold) {
  fs::remove_all(own());
  EXPECT_EQ(left(), own() + ": is no longer the folder that this run opened: it was removed by somebody else\n");
}

}  // namespace ullage::mounted_over_test
