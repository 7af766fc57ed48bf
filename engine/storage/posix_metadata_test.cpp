// SPDX-License-Identifier: Apache-2.0
#include "storage/posix_metadata.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::posix_metadata_test {

namespace fs = std::filesystem;
using enum MetadataOperation;

class PosixMetadata : public ::testing::Test {
 protected:
  PosixMetadata() : api_(make_posix_metadata(bench_.folder())) {
    EXPECT_TRUE(bench_.folder().make_directory("d"));
    directory_ = api_->enter("d").value_or(-1);
  }
  [[nodiscard]] Status one(MetadataOperation operation, const char* name, std::string data = "",
                           const char* new_name = "", bool sync = false) {
    data_ = std::move(data);
    const MetadataItem item{directory_, name, new_name, reinterpret_cast<std::byte*>(data_.data()), data_.size()};
    meter_->use_parts(3);
    return api_->perform(operation, {&item, 1}, sync, *meter_);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return bench_.path("d/" + name); }

  test::Bench bench_;
  test::RunningMeter meter_;
  std::unique_ptr<MetadataApi> api_;
  int directory_ = -1;
  std::string data_;
};

TEST_F(PosixMetadata, EveryOperationDoesWhatItIsCalled) {
  EXPECT_TRUE(one(create, "f", "contents"));
  EXPECT_EQ(test::read_file(path("f")), "contents");
  EXPECT_TRUE(one(stat, "f"));
  EXPECT_TRUE(one(read, "f", "????????"));
  EXPECT_EQ(data_, "contents");
  EXPECT_TRUE(one(chmod, "f"));
  struct stat status{};
  ASSERT_EQ(::stat(path("f").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
  EXPECT_TRUE(one(rename, "f", "", "g"));
  EXPECT_FALSE(fs::exists(path("f")));
  EXPECT_TRUE(one(open, "g"));
  EXPECT_TRUE(one(truncate, "g"));
  EXPECT_EQ(fs::file_size(path("g")), 0U);
  EXPECT_TRUE(one(unlink, "g"));
  EXPECT_TRUE(one(mkdir, "sub"));
  EXPECT_TRUE(fs::is_directory(path("sub")));
  EXPECT_TRUE(one(readdir, "sub"));
  EXPECT_TRUE(one(rmdir, "sub"));
  EXPECT_TRUE(fs::is_empty(bench_.path("d")));
  EXPECT_EQ(meter_->operations(), 11U);
}

TEST_F(PosixMetadata, AnErrorIsAnErrorAndCountsAsNothing) {
  ASSERT_TRUE(one(create, "f", "abc"));
  for (const auto& [operation, name, code] :
       {std::tuple(create, "f", EEXIST), std::tuple(stat, "x", ENOENT), std::tuple(read, "x", ENOENT),
        std::tuple(rename, "x", ENOENT), std::tuple(chmod, "x", ENOENT), std::tuple(truncate, "x", ENOENT),
        std::tuple(open, "x", ENOENT), std::tuple(unlink, "x", ENOENT), std::tuple(rmdir, "f", ENOTDIR),
        std::tuple(mkdir, "f", EEXIST), std::tuple(readdir, "f", ENOTDIR)}) {
    const auto status = one(operation, name, "", "y");
    ASSERT_FALSE(status) << word(operation);
    EXPECT_EQ(status.error().errno_value, code) << word(operation);
    EXPECT_EQ(status.error().operation, word(operation));
    EXPECT_EQ(status.error().where, path(name));
  }
  EXPECT_EQ(meter_->operations(), 1U);
}

TEST_F(PosixMetadata, ShorterFileThanAskedForIsAnError) {
  ASSERT_TRUE(one(create, "f", "abc"));
  const auto status = one(read, "f", "????");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().errno_value, EIO);
}

TEST_F(PosixMetadata, LinksAreNotFollowed) {
  test::write_file(bench_.path("victim"), "precious");
  fs::create_symlink(bench_.path("victim"), path("link"));
  EXPECT_FALSE(one(truncate, "link"));
  EXPECT_FALSE(one(read, "link", "????????"));
  EXPECT_FALSE(one(create, "link", "x"));
  EXPECT_TRUE(one(stat, "link")) << "of the link itself";
  EXPECT_TRUE(one(unlink, "link"));
  EXPECT_EQ(test::read_file(bench_.path("victim")), "precious");
}

TEST_F(PosixMetadata, PartsAddUpToTheOperationAndSyncsAreCounted) {
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(one(create, ("f" + std::to_string(i)).c_str(), "abc", "", i < 5));
  EXPECT_EQ(meter_->syncs(), 5U);
  std::uint64_t sum = 0;
  for (const Histogram& part : meter_->parts()) {
    EXPECT_EQ(part.operations(), 20U);
    sum += part.sum_ns();
  }
  EXPECT_EQ(sum, meter_->histogram().sum_ns());
}

TEST_F(PosixMetadata, DirectoriesAndFileSystemCanBeSynced) {
  EXPECT_TRUE(api_->sync_directory(directory_));
  EXPECT_TRUE(api_->sync_file_system(directory_));
  EXPECT_FALSE(api_->enter("nowhere"));
  api_->leave(directory_);
  EXPECT_FALSE(api_->sync_file_system(directory_)) << "no longer entered";
}

}  // namespace ullage::posix_metadata_test
