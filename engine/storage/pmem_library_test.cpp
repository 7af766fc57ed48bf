// SPDX-License-Identifier: Apache-2.0
#include "storage/pmem_library.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::pmem_library_test {

TEST(PmemLibrary, AbsentOrOfAnotherKindIsOneLine) {
  const auto absent = find_pmem("libullage-has-no-such.so.1");
  ASSERT_FALSE(absent);
  EXPECT_NE(test::line_of(absent).find("libullage-has-no-such.so.1"), std::string::npos) << test::line_of(absent);
  EXPECT_EQ(test::line_of(absent).find('\n'), std::string::npos);
  const auto other = find_pmem("libc.so.6");
  ASSERT_FALSE(other);
  EXPECT_NE(test::line_of(other).find("lacks a function"), std::string::npos) << test::line_of(other);
}

class PmemMappingTest : public testing::Test {
 protected:
  PmemMappingTest() : file_(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    EXPECT_EQ(ftruncate(file_.get(), 10'000), 0);
  }

  test::TempFolder folder_{"/dev/shm"};
  std::string path_ = folder_.path() + "/f";
  Descriptor file_;
};

/// A tmpfs is none, whatever the library is told; and a mapping by it is one of the file.
TEST_F(PmemMappingTest, SaysWhatMemoryIsBehindIt) {
  if (!pmem_library()) GTEST_SKIP() << test::line_of(pmem_library());
  for (const bool writes : {true, false}) {
    auto mapped = map_by_pmem(file_.get(), 10'000, writes, {}, path_);
    ASSERT_TRUE(mapped) << test::line_of(mapped);
    EXPECT_NE(mapped->persistence, Persistence::real);
    EXPECT_EQ(mapped->mapping.size_bytes(), 10'000U);
    if (writes) pmem_library()->copy(mapped->mapping.data() + 9'000, "persistent", 10, pmem_no_drain);
    EXPECT_EQ(std::memcmp(mapped->mapping.data() + 9'000, "persistent", 10), 0);
  }
  EXPECT_EQ(test::read_file(path_).substr(9'000, 10), "persistent");
}

TEST_F(PmemMappingTest, OfAnEmptyFileIsAnErrorWithItsPath) {
  if (!pmem_library()) GTEST_SKIP() << test::line_of(pmem_library());
  ASSERT_EQ(ftruncate(file_.get(), 0), 0);
  const auto mapped = map_by_pmem(file_.get(), 0, true, {}, path_);
  ASSERT_FALSE(mapped);
  EXPECT_NE(test::line_of(mapped).find(path_), std::string::npos) << test::line_of(mapped);
}

}  // namespace ullage::pmem_library_test
