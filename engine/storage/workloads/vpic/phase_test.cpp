// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/vpic/phase.hpp"

#include <gtest/gtest.h>

#include "storage/workloads/vpic/test_support.hpp"

namespace ullage::vpic_test {
namespace {

class MpiVpicPhase : public OneVpic {};

/// The computation is between steps, in the time of the phase and in none of the calls.
TEST_F(MpiVpicPhase, TheComputationIsOutsideTheTimeOfTheCalls) {
  use("posix");
  const Json records = run({{"compute_s", 0.05}, {"steps", 4}});
  ASSERT_EQ(status_, PhaseStatus::ok) << records.dump();
  for (const Json& record : records) {
    const double elapsed_s = record["elapsed_ns"].get<double>() * 1e-9;
    const double slept_s = record["gauges"]["slept_s"]["least"];
    const double raw_s = record["gauges"]["raw_s"]["most"];
    EXPECT_DOUBLE_EQ(record["facts"]["emulated_s"].get<double>(), 0.05 * 3);
    EXPECT_GE(slept_s, 0.15);
    EXPECT_GT(raw_s, 0);
    EXPECT_GE(elapsed_s, slept_s);
    EXPECT_LE(raw_s, elapsed_s - 0.15);
  }
}

TEST_F(MpiVpicPhase, ARankReadsWhatTheNextOneWrote) {
  use("posix");
  const Json records = run({});
  ASSERT_EQ(status_, PhaseStatus::ok) << records.dump();
  if (!world().root()) return;
  EXPECT_EQ(records[1]["facts"]["source_rank"], ranks() > 1 ? 1 : 0);
  EXPECT_EQ(records[0]["operations"], ranks() * 3 * 8);
}

TEST_F(MpiVpicPhase, ItIsSaidWhereTheDataIsOfTheSameNode) {
  use("posix");
  const auto values = complete(entry().description.parameters, {}, "");
  const auto workload = std::get<StorageWork>(entry().work).make(*values, context());
  workload->find_peers();
  const PhaseInfo info = workload->phase(1)->info();
  ASSERT_EQ(info.notices.size(), 1U);
  EXPECT_EQ(info.notices[0].code, ranks() > 1 ? "read-back-same-node" : "read-back-own");
}

using namespace test;

/// A file of another form is not read as if it were of this one.
TEST(ParticleFile, AnotherFormIsRefused) {
  Bench bench;
  const auto backend = bench.make("posix");
  ParticleLayout layout;
  layout.particles = 10;
  const auto opened = [&](OpenMode mode) {
    return ParticleFile::open(*backend, {"f", mode, false, layout.file_bytes()}, layout, FileFormat::raw,
                              {.text = layout.header(), .name = "f"});
  };
  auto file = opened(OpenMode::create);
  ASSERT_TRUE(file) << line_of(file);
  EXPECT_TRUE(file->close());
  auto again = opened(OpenMode::read);
  ASSERT_TRUE(again) << line_of(again);
  EXPECT_TRUE(again->close());
  layout.file = ParticleOrder::interleaved;
  const auto other = opened(OpenMode::read);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::verification);
}

}  // namespace
}  // namespace ullage::vpic_test
