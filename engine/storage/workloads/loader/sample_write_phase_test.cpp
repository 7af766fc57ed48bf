// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/sample_write_phase.hpp"

#include "storage/workloads/loader/test_support.hpp"

namespace ullage::loader_test {
namespace {

class MpiSampleWrite : public OneRepetition {};

TEST_F(MpiSampleWrite, TheRanksMakeEveryFileOnce) {
  for (const std::int64_t samples : {1, 3, 100}) {
    const Json records = run({{"samples", number(samples)}, {"epochs", number(0)}, {"samples_per_file", number(2)}});
    EXPECT_EQ(status_, PhaseStatus::ok);
    if (!world().root()) continue;
    EXPECT_EQ(records[0]["counters"]["files"], (samples + 1) / 2);
    EXPECT_EQ(records[0]["phase"], "write");
    EXPECT_EQ(records[0]["access"], "write");
  }
}

TEST_F(MpiSampleWrite, AFullFileSystemFailsTheCaseAndLeavesNothing) {
  if (world().size() > 1) GTEST_SKIP() << "one rank mounts";
  const test::SmallFileSystem small("size=256k");
  if (!small.mounted()) GTEST_SKIP() << "mounting is not permitted";
  test::Bench bench(small.path(), nullptr);
  auto backend = bench.make("posix");
  StorageContext bound = context();
  bound.folder = &bench.folder();
  bound.backend = backend.get();
  const auto workload = std::get<StorageWork>(entry().work).make(values_of({}), bound);
  ASSERT_TRUE(begin_together(*workload, world().all()).everywhere);
  Json record;
  EXPECT_EQ(run_phase(run_context(), &bench.folder(), *workload->phase(0), record).status, PhaseStatus::failed);
  EXPECT_NE(record["failures"].dump().find("\"errno\":28"), std::string::npos) << record["failures"].dump();
  EXPECT_TRUE(end_together(*workload, false, world().all()).everywhere);
  EXPECT_EQ(test::names_in(bench.folder().path()), (std::vector<std::string>{".ullage-run", "manifest.ndjson"}));
}

}  // namespace
}  // namespace ullage::loader_test
