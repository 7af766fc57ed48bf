// SPDX-License-Identifier: Apache-2.0
#include "storage/file_mapping.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>

#include "storage/test_support.hpp"

namespace ullage::file_mapping_test {
namespace {

class FileMappingTest : public testing::Test {
 protected:
  FileMappingTest() : file_(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    EXPECT_EQ(ftruncate(file_.get(), 10'000), 0);
  }

  test::TempFolder folder_;
  std::string path_ = folder_.path() + "/f";
  Descriptor file_;
};

TEST_F(FileMappingTest, ShowsTheFileAndChangesIt) {
  auto mapping = FileMapping::map(file_.get(), 10'000, true, {}, path_);
  ASSERT_TRUE(mapping) << test::line_of(mapping);
  EXPECT_EQ(mapping->size_bytes(), 10'000U);
  mapping->data()[9'999] = std::byte{'y'};
  FileMapping moved = std::move(*mapping);
  *mapping = {};
  EXPECT_EQ(moved.data()[9'999], std::byte{'y'});
  moved = {};
  EXPECT_EQ(test::read_file(path_).back(), 'y');
}

/// Reads of a page that is there already come from no fault; mincore says which are.
TEST_F(FileMappingTest, HasAllItsPagesWhereThatIsAsked) {
  for (const bool populate : {false, true}) {
    MappingParameters parameters;
    parameters.populate = populate;
    const auto mapping = FileMapping::map(file_.get(), 10'000, false, parameters, path_);
    ASSERT_TRUE(mapping) << test::line_of(mapping);
    std::array<unsigned char, 3> resident{};
    ASSERT_EQ(mincore(mapping->data(), 10'000, resident.data()), 0);
    EXPECT_EQ(resident, (std::array<unsigned char, 3>{populate, populate, populate}));
  }
}

TEST_F(FileMappingTest, OfNothingOrOfNoFileIsAnError) {
  const auto nothing = FileMapping::map(file_.get(), 0, false, {}, path_);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().errno_value, EINVAL);
  const auto no_file = FileMapping::map(-1, 4096, false, {}, path_);
  ASSERT_FALSE(no_file);
  EXPECT_NE(test::line_of(no_file).find(path_), std::string::npos);
}

}  // namespace
}  // namespace ullage::file_mapping_test
