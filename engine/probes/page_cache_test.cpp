// SPDX-License-Identifier: Apache-2.0
#include "probes/page_cache.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "probes/probe.hpp"
#include "storage/test_support.hpp"

namespace ullage::page_cache_test {

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

constexpr std::uint64_t pages = 50;

std::unique_ptr<Probe> resident() { return Registry<ProbeEntry>::instance().find("resident")->make(); }

std::string own_name(const test::Bench& bench) { return "own." + std::to_string(bench.world().rank()); }

void write_pages(const test::Bench& bench) {
  test::write_file(bench.path(own_name(bench)),
                   std::string(pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)), 'x'));
}

template <class Phase>
Json probed(const test::Bench& bench, PhaseScope scope, const Phase& phase) {
  const auto probe = resident();
  scope.world = &bench.world();
  Json record = Json::object();
  probe->begin(scope);
  phase();
  probe->end(scope);
  probe->settle(scope);
  probe->report(scope, record);
  return record;
}

TEST(MpiResident, PagesOfWhatThePhaseWrote) {
  test::Bench bench;
  PhaseScope scope;
  scope.folder = &bench.folder();
  scope.files = {own_name(bench)};
  const Json record = probed(bench, scope, [&] { write_pages(bench); });
  if (!bench.world().root()) return;
  const Json& found = record["resident"];
  const std::uint64_t all = pages * static_cast<unsigned>(bench.world().size());
  EXPECT_TRUE(found["source"] == "cachestat" || found["source"] == "mincore");
  EXPECT_EQ(found["total_pages"], all);
  EXPECT_EQ(found["before_pages"], 0);
  EXPECT_EQ(found["after_pages"], all);
  EXPECT_LE(found["dirty_after_pages"].get<std::uint64_t>(), all);
}

TEST(MpiResident, OnlyRanksWithFilesCount) {
  test::Bench bench;
  if (bench.world().root()) write_pages(bench);
  PhaseScope scope;
  scope.folder = &bench.folder();
  if (bench.world().root()) scope.files = {own_name(bench)};
  const Json record = probed(bench, scope, [] {});
  if (!bench.world().root()) return;
  EXPECT_EQ(record["resident"]["total_pages"], pages);
  EXPECT_EQ(record["resident"]["before_pages"], pages);
  EXPECT_EQ(record["resident"]["after_pages"], pages);
}

TEST(MpiResident, WithoutFilesThereIsNothingToLookAt) {
  test::Bench bench;
  const Json record = probed(bench, {}, [] {});
  if (bench.world().root()) {
    EXPECT_TRUE(record["resident"].is_null());
  }
}

TEST(MpiResident, AFileThatCannotBeLookedAtLeavesNoNumbers) {
  test::Bench bench;
  const std::string name = own_name(bench);
  ASSERT_EQ(::symlink("/etc/hostname", bench.path(name).c_str()), 0);
  PhaseScope scope;
  scope.folder = &bench.folder();
  scope.files = {name};
  const Json record = probed(bench, scope, [] {});
  if (!bench.world().root()) return;
  EXPECT_EQ(record["resident"]["source"], "none");
  EXPECT_EQ(record["resident"]["total_pages"], 0);
}

}  // namespace ullage::page_cache_test
