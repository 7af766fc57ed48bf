// SPDX-License-Identifier: Apache-2.0
#include "probes/page_cache.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "storage/descriptor.hpp"
#include "storage/test_support.hpp"

namespace ullage::page_cache_test {
namespace {

constexpr std::uint64_t pages_written = 100;

class PageCache : public testing::Test {
 protected:
  [[nodiscard]] Descriptor written(std::uint64_t extra_bytes) const {
    const std::string path = folder_.path() + "/file";
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    const std::string data(pages_written * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + extra_bytes, 'x');
    EXPECT_EQ(::write(file.get(), data.data(), data.size()), static_cast<ssize_t>(data.size()));
    return file;
  }
  test::TempFolder folder_;
};

TEST_F(PageCache, BothSourcesSeeWhatWasJustWritten) {
  const Descriptor file = written(1);
  const auto by_mincore = file_pages(file.get(), PageSource::mincore);
  ASSERT_TRUE(by_mincore);
  EXPECT_EQ(by_mincore->total, pages_written + 1);
  EXPECT_EQ(by_mincore->resident, pages_written + 1);
  EXPECT_EQ(by_mincore->dirty, 0U);
  const auto by_cachestat = file_pages(file.get(), PageSource::cachestat);
  if (!by_cachestat) GTEST_SKIP() << "no cachestat(2) here: errno " << by_cachestat.error();
  EXPECT_EQ(by_cachestat->total, pages_written + 1);
  EXPECT_EQ(by_cachestat->resident, pages_written + 1);
}

TEST_F(PageCache, EmptyAndBadFiles) {
  const Descriptor empty(::open((folder_.path() + "/empty").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const auto pages = file_pages(empty.get(), PageSource::mincore);
  ASSERT_TRUE(pages);
  EXPECT_EQ(pages->total, 0U);
  EXPECT_EQ(file_pages(-1, PageSource::cachestat).error(), EBADF);
  EXPECT_EQ(file_pages(-1, PageSource::mincore).error(), EBADF);
}

}  // namespace
}  // namespace ullage::page_cache_test
