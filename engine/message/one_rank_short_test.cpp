// SPDX-License-Identifier: Apache-2.0
// One rank without memory for its messages: each workload fails by that rank's error, and all ranks are together again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <ostream>
#include <string>

#include "base/test_support.hpp"
#include "message/congestion/roles.hpp"
#include "run/workload_test_support.hpp"

namespace ullage::one_rank_short_test {
namespace {

constexpr std::int64_t mib = 1 << 20;

struct Short {
  std::string workload;
  Values large;  // takes 100 MiB and more on the last rank
  int fewest_ranks = 2;
  friend void PrintTo(const Short& one, std::ostream* out) { *out << one.workload; }
};

class MpiOneRankShort : public ::testing::TestWithParam<Short>, public test::Launch {
 protected:
  void SetUp() override {
    if (world_.size() < GetParam().fewest_ranks) GTEST_SKIP() << "too few ranks";
    if (!test::LittleMemory::can_be_had) GTEST_SKIP() << "address space cannot be limited under this sanitizer";
  }
  [[nodiscard]] int last() const { return world_.size() - 1; }
  /// With what is random chosen so that the last rank is a victim.
  [[nodiscard]] Values large() const {
    Values values = GetParam().large;
    if (GetParam().workload != "congestion") return values;
    std::int64_t seed = 0;
    const auto is_victim = [&] {
      const auto victims =
          choose_victims(world_.size(), count_of_victims(world_.size(), 0.2), static_cast<std::uint64_t>(++seed));
      return std::ranges::binary_search(victims, last());
    };
    while (!is_victim()) continue;
    values["seed"] = seed;
    return values;
  }
};

TEST_P(MpiOneRankShort, FailsForAllAndTheNextRuns) {
  {
    const test::LittleMemory little(world_.rank() == last());
    EXPECT_EQ(run(GetParam().workload, large()), PhaseStatus::failed);
  }
  if (world_.root() && !records_.empty()) {  // else it was a step before the phases that has failed
    const Json& failures = records_.back()["failures"];
    ASSERT_EQ(failures.size(), 1U) << failures.dump();
    EXPECT_EQ(failures[0]["rank"], last());
    EXPECT_EQ(failures[0]["errno"], ENOMEM);
  }
  Json record;
  EXPECT_EQ(run("collective", brief({}), 1), PhaseStatus::ok);
}

INSTANTIATE_TEST_SUITE_P(
    Workloads, MpiOneRankShort,
    ::testing::Values(
        Short{"ping-pong", {{"pairs", "sampled"}, {"message_bytes", 100 * mib}}},
        Short{"ping-pong", {{"pairs", "all"}, {"message_bytes", 100 * mib}}},
        Short{"ping-pong",
              {{"traffic", "one-way"}, {"message_bytes", std::int64_t{128}}, {"loops", std::int64_t{1'000'000}}}},
        Short{"ring", {{"message_bytes", 32 * mib}}}, Short{"collective", {{"message_bytes", 100 * mib}}},
        Short{"exchange", {{"message_bytes", 100 * mib}}}, Short{"one-sided", {{"message_bytes", 128 * mib}}},
        Short{"one-sided", {{"message_bytes", 128 * mib}, {"pairs", "all"}, {"operation", "get"}}},
        Short{"b-eff", {{"lmax_bytes", 16 * mib}}}, Short{"sockets", {{"block_bytes", 128 * mib}}},
        Short{
            "congestion",
            {{"bulk_bytes", 16 * mib}, {"outstanding", std::int64_t{4}}, {"rings", std::int64_t{1}}, {"test_s", 0.001}},
            4}));

}  // namespace
}  // namespace ullage::one_rank_short_test
