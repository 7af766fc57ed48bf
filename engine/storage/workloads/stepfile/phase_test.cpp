// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/phase.hpp"

#include "storage/workloads/stepfile/test_support.hpp"

namespace ullage::stepfile_test {
namespace {

class MpiStepPhase : public OneRepetition {};

TEST_F(MpiStepPhase, TimesAreApartAndAddUp) {
  const Json records = run({{"compute_s", 0.001}, {"steps", number(12)}});
  if (!world().root()) return;
  for (const Json& record : records) {
    const Json& parts = record["latency_parts"];
    for (const char* part : {"compute", "open", "transfer", "close", "exposed"})
      EXPECT_EQ(parts[part]["operations"], 12 * ranks()) << part;
    EXPECT_GE(parts["compute"]["sum_ns"], 12'000'000 * ranks());
    const std::uint64_t whole = record["latency"]["sum_ns"];
    EXPECT_EQ(parts["compute"]["sum_ns"].get<std::uint64_t>() + parts["exposed"]["sum_ns"].get<std::uint64_t>(), whole);
    EXPECT_NEAR(record["gauges"]["compute_s"]["sum"].get<double>(), parts["compute"]["sum_ns"].get<double>() * 1e-9,
                1e-6);
    std::uint64_t computed = 0;
    for (const Json& interval : record["facts"]["timeline"]["compute_ns"]) computed += interval.get<std::uint64_t>();
    EXPECT_EQ(computed, parts["compute"]["sum_ns"]) << "of all ranks";
  }
}

/// The forward part contains the sync at its end, the adjoint part an opening and a read.
TEST_F(MpiStepPhase, TurnRoundIsFromTheLastComputationToTheFirstStateAtHand) {
  for (const char* layout : {"dir-per-rank", "log"}) {
    const Json records = run({{"compute_s", 0.001}, {"sync", words("close")}, {"layout", words(layout)}});
    if (!world().root()) continue;
    EXPECT_FALSE(records[0]["gauges"].contains("turn_round_s"));
    const Json& found = records[1]["gauges"]["turn_round_s"];
    EXPECT_GT(found["least"].get<double>(), 0.0) << layout;
    const auto whole_ns = records[0]["elapsed_ns"].get<double>() + records[1]["elapsed_ns"].get<double>();
    EXPECT_LE(found["most"].get<double>(), whole_ns * 1e-9 - 23 * 0.001) << "computations are in neither part";
  }
}

}  // namespace
}  // namespace ullage::stepfile_test
