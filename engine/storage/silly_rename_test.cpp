// SPDX-License-Identifier: Apache-2.0
#include "storage/silly_rename.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::silly_rename_test {

namespace fs = std::filesystem;
constexpr const char* of_fuse = ".fuse_hidden0000000300000001";
constexpr const char* of_nfs = ".nfs00000000012a0003000000ff";

TEST(SillyRename, KnowsTheNamesOfBothClients) {
  EXPECT_TRUE(is_silly_name(of_fuse));
  EXPECT_TRUE(is_silly_name(of_nfs));
  for (const char* other : {".nfs", ".nfs00000000012a0003000000fg", ".fuse_hidden", ".fuse_hidden00000003000000010",
                            "x.nfs00000000012a0003000000ff", ".ullage-run", ""})
    EXPECT_FALSE(is_silly_name(other)) << other;
}

class SillyDirectory : public ::testing::Test {
 protected:
  SillyDirectory() : parent_(::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    fs::create_directory(folder_.path() + "/d");
  }
  void add(const std::string& name) const { test::write_file(folder_.path() + "/d/" + name, "x"); }
  test::TempFolder folder_;
  Descriptor parent_;
};

TEST_F(SillyDirectory, IsWaitedForWhileNothingElseIsInIt) {
  add(of_fuse);
  std::jthread client([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    fs::remove(folder_.path() + "/d/" + of_fuse);
  });
  EXPECT_TRUE(remove_empty_directory(parent_.get(), "d"));
  EXPECT_FALSE(fs::exists(folder_.path() + "/d"));
}

TEST_F(SillyDirectory, IsNotWaitedForWithAnythingElseInIt) {
  add(of_nfs);
  add("precious");
  const auto removed = remove_empty_directory(parent_.get(), "d");
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error(), ENOTEMPTY);
  EXPECT_TRUE(fs::exists(folder_.path() + "/d/precious"));
}

TEST_F(SillyDirectory, ThatIsNotThereIsAnError) {
  EXPECT_EQ(remove_empty_directory(parent_.get(), "none").error(), ENOENT);
}

TEST(SideFiles, OfRomioAndOfOmpioAreKnown) {
  for (const char* name : {".data.shfp.3698005776.10693", ".data.shfp.12345", "data-1183186945-10876.lock",
                           "data.data.0", "data.metadata.1023"})
    EXPECT_EQ(file_beside(name), "data") << name;
  EXPECT_EQ(file_beside("data.00000003-12-34.lock"), "data.00000003");
  EXPECT_EQ(file_beside(".data.00000003.shfp.12.34"), "data.00000003");
  EXPECT_EQ(file_beside("data.data.data.1"), "data.data");
}

TEST(SideFiles, NothingElseIs) {
  for (const char* name : {"",
                           "data",
                           ".data",
                           "data.lock",
                           "data-1.lock",
                           "data-1-.lock",
                           "data--1.lock",
                           "data-1-2.lock.old",
                           "data-a-2.lock",
                           "data.data.",
                           "data.data.x",
                           "data.data.1x",
                           "data.metadata.-1",
                           "data.other.1",
                           ".data.shfp.",
                           ".data.shfp.1.",
                           ".data.shfp..1",
                           ".data.shfp.1.2.3",
                           ".data.shfp.a",
                           "data.shfp.1.2",
                           "-1-2.lock",
                           ".shfp.1",
                           "..shfp.1.2.lock",
                           ".data.1",
                           "data.data.123456789012345678901",
                           "data.00000001"})
    EXPECT_FALSE(file_beside(name)) << name;
}

}  // namespace ullage::silly_rename_test
