// SPDX-License-Identifier: Apache-2.0
#include "storage/silly_rename.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "storage/test_support.hpp"

namespace ullage::silly_rename_test {
namespace {

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

}  // namespace
}  // namespace ullage::silly_rename_test
