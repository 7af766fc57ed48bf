// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "base/json.hpp"
#include "probes/probe.hpp"
#include "storage/test_support.hpp"

namespace ullage::resident_test {
namespace {

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

}  // namespace
}  // namespace ullage::resident_test
