// SPDX-License-Identifier: Apache-2.0
// Workload `exchange` as a plan has it.
#include <gtest/gtest.h>

#include "message/exchange/exchange.hpp"
#include "message/patterns/test_support.hpp"
#include "run/workload_test_support.hpp"

namespace ullage::exchange_test {

std::string refusal(const Values& given, int ranks) { return test::Launch::refusal("exchange", given, ranks); }

Values tiny(Values given) {
  given.try_emplace("windows", 2);
  given.try_emplace("window_s", 1e-5);
  given.try_emplace("warm_up_s", 0.0);
  given.try_emplace("message_bytes", 1000);
  return given;
}

PhaseStatus run(const Values& given, Json& record) { return test::run_workload("exchange", tiny(given), record); }

/// A pattern's file, which only rank 0 reads and makes.
class PatternFile final : Pinned {
 public:
  explicit PatternFile(const std::string& text) {
    if (mpi::Comm::world().rank() == 0) std::ofstream(path()) << text;
  }
  ~PatternFile() {
    mpi::Comm::world().barrier();
    if (mpi::Comm::world().rank() == 0) std::filesystem::remove(path());
  }
  [[nodiscard]] std::string path() const { return name_; }

 private:
  std::string name_ = std::filesystem::temp_directory_path() /
                      mpi::Comm::world().broadcast("ullage-pattern-" + std::to_string(getpid()), 0);
};

void expect_moved(const Json& record, const std::string& pattern) {
  const Json& gauges = record["gauges"];
  const double messages = record["facts"]["messages_an_iteration"].get<double>();
  EXPECT_EQ(record["facts"]["pattern"], pattern);
  EXPECT_GE(messages, 1);
  EXPECT_EQ(gauges["messages"]["sum"].get<double>(), messages * gauges["iterations"]["most"].get<double>());
  EXPECT_EQ(gauges["bytes"]["sum"].get<double>(), 1000 * gauges["messages"]["sum"].get<double>());
  EXPECT_EQ(record["bytes"].get<double>(), gauges["bytes"]["sum"].get<double>());
  EXPECT_GT(gauges["elapsed_s"]["least"], 0);
  EXPECT_EQ(gauges["elapsed_s"]["least"], gauges["elapsed_s"]["most"]) << "the slowest rank's, on all";
  EXPECT_EQ(record["facts"]["windows_s"].size(), 2U);
  EXPECT_EQ(record["verified_bytes"].get<double>(), 2 * 1000 * messages);
  EXPECT_EQ(record["bad_blocks"], 0);
}

class MpiExchangeBy : public ::testing::TestWithParam<const char*> {};

TEST_P(MpiExchangeBy, EveryPatternMovesItsMessages) {
  if (mpi::Comm::world().size() < 2) GTEST_SKIP() << "one rank";
  const std::vector<std::string> patterns{"ring",    "best-bisection", "worst-bisection", "random-bisection",
                                          "halo-2d", "torus-3d",       "incast",          "outcast"};
  for (const std::string& pattern : patterns) {
    Json record;
    ASSERT_EQ(run({{"pattern", pattern}, {"method", GetParam()}}, record), PhaseStatus::ok) << pattern;
    if (mpi::Comm::world().rank() == 0) expect_moved(record, pattern);
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, MpiExchangeBy, ::testing::Values("sendrecv", "alltoallv", "nonblocking"));

TEST(MpiExchange, MessagesOfARankThatOverlapInTimeDoNotInMemory) {
  if (mpi::Comm::world().size() < 2) GTEST_SKIP() << "one rank";
  const PatternFile file("0 1 40\n1 0 3 # back\n");
  for (const char* method : {"sendrecv", "nonblocking"}) {
    Json record;
    const Values given{{"pattern", "sparse"}, {"file", file.path()}, {"method", method}};
    ASSERT_EQ(run(given, record), PhaseStatus::ok) << method;
    if (mpi::Comm::world().rank() != 0) continue;
    EXPECT_EQ(record["facts"]["messages_an_iteration"], 43);
    EXPECT_EQ(record["verified_bytes"], 2 * 43 * 1000);
  }
}

std::string failure(const Values& given) {
  Json record;
  EXPECT_EQ(run(given, record), PhaseStatus::failed);
  return mpi::Comm::world().rank() == 0 ? record["failures"][0].dump() : "";
}

TEST(MpiExchange, ABadFileFailsWithItsLine) {
  if (mpi::Comm::world().size() < 2) GTEST_SKIP() << "one rank";
  const bool is_root = mpi::Comm::world().rank() == 0;
  const PatternFile bad("0 1\n1 here\n");
  const std::string found = failure({{"pattern", "sparse"}, {"file", bad.path()}});
  if (is_root) {
    EXPECT_NE(found.find("line 2: 'here' is not a whole number"), std::string::npos) << found;
  }
  const std::string gone = failure({{"pattern", "sparse"}, {"file", "/nowhere/at/all"}});
  if (is_root) {
    EXPECT_NE(gone.find("cannot be read"), std::string::npos) << gone;
  }
}

TEST(MpiExchange, WeightsAreNotForAlltoallv) {
  if (mpi::Comm::world().size() < 2) GTEST_SKIP() << "one rank";
  const PatternFile file("0 1 2\n");
  const std::string found = failure({{"pattern", "sparse"}, {"file", file.path()}, {"method", "alltoallv"}});
  if (mpi::Comm::world().rank() == 0) {
    EXPECT_NE(found.find("one message a pair"), std::string::npos) << found;
  }
}

TEST(Exchange, RefusesWhatSaysNothing) {
  EXPECT_FALSE(test::Launch::entry("exchange").works_on_storage());
  EXPECT_EQ(refusal({}, 2), "");
  EXPECT_NE(refusal({}, 1).find("two ranks or more"), std::string::npos);
  EXPECT_NE(refusal({{"pattern", "sparse"}}, 2).find("/p/file"), std::string::npos);
  EXPECT_NE(refusal({{"file", "x"}}, 2).find("/p/file"), std::string::npos);
}

Pattern made(ExchangePattern kind, int ranks, std::uint64_t seed = 1) {
  ExchangeParameters parameters;
  parameters.pattern = kind;
  parameters.seed = seed;
  return exchange_pattern(parameters, ranks, "").value();
}

TEST(ExchangePhase, EveryPatternIsItsOwn) {
  EXPECT_EQ(test::messages_of(made(ExchangePattern::ring, 5)), 10U);
  EXPECT_EQ(test::messages_of(made(ExchangePattern::best_bisection, 5)), 4U);
  EXPECT_EQ(test::messages_of(made(ExchangePattern::worst_bisection, 8)), 8U);
  EXPECT_EQ(test::messages_of(made(ExchangePattern::incast, 8)), 7U);
  EXPECT_EQ(test::messages_of(made(ExchangePattern::halo_2d, 9)), 24U);
  EXPECT_EQ(test::messages_of(made(ExchangePattern::torus_2d, 9)), 36U);
  EXPECT_EQ(test::messages_of(made(ExchangePattern::halo_3d, 8)), 24U);
  EXPECT_EQ(made(ExchangePattern::torus_3d, 27).name, "torus-3d");
}

TEST(ExchangePhase, RandomPairsAreAMatchingThatFollowsItsSeed) {
  const Pattern pattern = made(ExchangePattern::random_bisection, 16);
  EXPECT_EQ(test::messages_of(pattern), 16U);
  std::vector<int> order = pattern.order;
  EXPECT_EQ(order, made(ExchangePattern::random_bisection, 16).order);
  EXPECT_NE(order, made(ExchangePattern::random_bisection, 16, 2).order);
  std::ranges::sort(order);
  for (int rank = 0; rank < 16; ++rank) EXPECT_EQ(order[static_cast<std::size_t>(rank)], rank);
}

TEST(ExchangePhase, BeforeItHasBegunItHasMeasuredNothing) {
  const mpi::World world;
  WorkloadContext context;
  context.world = &world;
  const ExchangePhase phase({}, context);
  EXPECT_EQ(phase.gauges().at("elapsed_s"), 0);
  EXPECT_EQ(phase.gauges().at("messages"), 0);
  EXPECT_EQ(phase.operations(), 5U);
}

}  // namespace ullage::exchange_test
