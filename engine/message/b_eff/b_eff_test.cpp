// SPDX-License-Identifier: Apache-2.0
// Workload `b-eff` as a plan has it.
#include "message/b_eff/b_eff.hpp"

#include <gtest/gtest.h>

#include "message/patterns/test_support.hpp"
#include "run/workload_test_support.hpp"

namespace ullage::b_eff_test {

class MpiBEff : public test::MpiLaunch {
 protected:
  MpiBEff() { given_ = {{"lmax_bytes", 8192}, {"budget_s", 1e-6}, {"random_rings", 1}}; }
  void SetUp() override {
    if (world_.size() < 2) GTEST_SKIP() << "one rank has nobody to send to";
  }
  [[nodiscard]] BEffPatterns patterns() const {
    BEffPatterns::Options options;
    options.ranks = world_.size();
    options.random_rings = 1;
    return BEffPatterns(options);
  }
  Values given_;
};

TEST_F(MpiBEff, EveryPatternByEveryMethod) {
  ASSERT_EQ(run("b-eff", given_, 2), PhaseStatus::ok);
  if (!world_.root()) return;
  const BEffPatterns all = patterns();
  for (std::size_t size = 0; size < records_.size(); ++size) {
    const Json& record = records_[size];
    EXPECT_EQ(record["gauges"].size(), 3 * all.size() - 2 + 3 + 2 + (size == 0 ? 4 : 0));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Pattern pattern = all.make(i);
      EXPECT_EQ(record["counters"]["messages/" + pattern.name], test::messages_of(pattern)) << pattern.name;
      for (const auto method : message_methods) {
        if (all.has_one_method(i) && method != mpi::MessageMethod::sendrecv) continue;
        EXPECT_GT(gauge(size, "t/" + pattern.name + "/" + word_of(method) + "_s", "most"), 0);
      }
    }
    EXPECT_GT(record["verified_bytes"], 0);
    EXPECT_EQ(record["bad_blocks"], 0);
  }
  EXPECT_EQ(gauge(0, "loops/sendrecv", "least"), 5);  // half of the least that is allowed
  EXPECT_EQ(gauge(0, "probe_loops", "least"), 10);
  EXPECT_GT(gauge(0, "probe/alltoallv_s", "least"), 0);
}

TEST_F(MpiBEff, EveryLengthIsAPhaseAndTheLastTwoMayBeShort) {
  if (world_.size() > 2) GTEST_SKIP() << "more ranks than two take long and show nothing more";
  given_["additional"] = false;
  ASSERT_EQ(run("b-eff", given_), PhaseStatus::ok);
  ASSERT_EQ(records_.size(), 21U);
  if (!world_.root()) return;
  EXPECT_EQ(records_[3]["phase"], "size-03");
  EXPECT_EQ(gauge(3, "message_bytes", "least"), 8);
  EXPECT_EQ(gauge(20, "message_bytes", "most"), 8192);
  EXPECT_EQ(records_[18]["facts"]["short"], false);
  for (const std::size_t size : {19U, 20U}) {
    EXPECT_EQ(records_[size]["facts"]["short"], true);
    EXPECT_EQ(records_[size]["operations"], 7 * world_.size());
    EXPECT_EQ(records_[size]["gauges"].size(), 7U + 3 + 2);
    for (const auto method : message_methods) EXPECT_EQ(gauge(size, "loops/" + word_of(method), "most"), 1);
  }
}

TEST_F(MpiBEff, OperationsBytesAndTimesAddUp) {
  given_["additional"] = false;
  given_["timed_check"] = true;
  ASSERT_EQ(run("b-eff", given_, 3), PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(records_[0]["operations"], 2 * 3 * 7 * world_.size());
  EXPECT_EQ(records_[2]["operations"], 3 * 7 * world_.size());
  double sent = 0;
  double times_s = 0;
  for (const auto& [name, value] : records_[2]["gauges"].items())
    if (name.starts_with("t/")) times_s += value["sum"].get<double>();
  for (const auto& [name, messages] : records_[2]["counters"].items())
    for (const auto method : message_methods)
      sent += messages.get<double>() * gauge(2, "loops/" + word_of(method), "most") * 4;
  EXPECT_EQ(records_[2]["bytes"].get<double>(), sent);
  EXPECT_NEAR(gauge(2, "accounted_s", "sum"), times_s, 1e-9);
  EXPECT_LE(gauge(2, "accounted_s", "least"), records_[2]["facts"]["elapsed_s"].get<double>() * 1.001 + 1e-6);
}

TEST_F(MpiBEff, FirstPhaseTellsWhatThePatternsAre) {
  given_["additional"] = false;
  given_["permutation"] = "slot-probe";
  given_["seed"] = std::int64_t{77};
  ASSERT_EQ(run("b-eff", given_, 2), PhaseStatus::ok);
  if (!world_.root()) return;
  const Json& facts = records_[0]["facts"];
  EXPECT_EQ(facts["seed"], 77);
  EXPECT_EQ(facts["sizes"].size(), 21U);
  EXPECT_EQ(facts["pages"]["asked"], "default");
  EXPECT_EQ(facts["nodes"].size(), static_cast<std::size_t>(world_.size()));
  EXPECT_EQ(facts["patterns"].size(), 7U);
  EXPECT_EQ(facts["patterns"]["random-00"]["order"], Json(random_order(RandomOrder::slot_probe, world_.size(), 77, 0)));
  EXPECT_FALSE(records_[1]["facts"].contains("patterns"));
}

TEST(BEff, OneRankIsRefused) {
  EXPECT_FALSE(test::Launch::entry("b-eff").works_on_storage());
  EXPECT_NE(test::Launch::refusal("b-eff", {}, 1).find("two ranks or more"), std::string::npos);
  EXPECT_EQ(test::Launch::refusal("b-eff", {}, 2), "");
}

class MpiBEffPhase : public test::MpiLaunch {
 protected:
  MpiBEffPhase() {
    parameters_.lmax_bytes = 4096;
    parameters_.random_rings = 1;
    parameters_.additional = false;
    parameters_.budget_s = 1e-6;
  }
  void SetUp() override {
    if (world_.size() < 2) GTEST_SKIP() << "one rank has nobody to send to";
  }
  PhaseStatus run_first(BEffRun& run) {
    BEffPhase phase(run, 0);
    return run_phase(phase).status;
  }

  BEffParameters parameters_;
};

TEST_F(MpiBEffPhase, OneThatIsStoppedEndsOnAllRanksTogether) {
  BEffRun run(parameters_, context_);
  run.find_peers();
  run.make_messages();
  if (world_.rank() == 0) StopFlags::instance().stop_now();
  EXPECT_EQ(run_first(run), PhaseStatus::interrupted);
  StopFlags::instance().reset();
  if (world_.root()) {
    EXPECT_EQ(record_["operations"], 2 * 3 * 7 * world_.size());
  }
}

TEST_F(MpiBEffPhase, WrongMessagesFailIt) {
  context_.run_key = static_cast<std::uint64_t>(world_.rank());
  BEffRun run(parameters_, context_);
  run.find_peers();
  run.make_messages();
  EXPECT_EQ(run_first(run), PhaseStatus::failed);
  if (!world_.root()) return;
  EXPECT_GT(record_["bad_blocks"], 0);
  EXPECT_NE(record_["failures"].dump().find(" by sendrecv, 1 bytes from rank"), std::string::npos);
}

TEST_F(MpiBEffPhase, InfoNamesTheSize) {
  BEffRun run(parameters_, context_);
  EXPECT_EQ(BEffPhase(run, 9).info().name, "size-09");
  EXPECT_EQ(BEffPhase(run, 10).info().name, "size-10");
  EXPECT_TRUE(BEffPhase(run, 0).info().collective);
}

Json facts(int ranks, int most_places = 1024) {
  BEffPatterns::Options options;
  options.ranks = ranks;
  return facts_of(BEffPatterns(options), most_places);
}

std::size_t degenerate(const Json& patterns, const std::string& prefix) {
  std::size_t found = 0;
  for (const auto& [name, pattern] : patterns.items())
    if (name.starts_with(prefix) && pattern["degenerate"].get<bool>()) ++found;
  return found;
}

TEST(BEffFacts, SayWhatAPatternIsMadeOf) {
  const Json patterns = facts(33);
  EXPECT_EQ(patterns.size(), 49U);
  EXPECT_EQ(patterns["ring-3"]["rings"], Json::parse("[16, 17]"));
  EXPECT_FALSE(patterns["ring-3"].contains("dims"));
  EXPECT_EQ(patterns["cyclic-3d-all"]["dims"], Json::parse("[4, 4, 2]"));
  EXPECT_EQ(patterns["ping-pong"]["order"], Json::parse("[0, 1]"));
  EXPECT_EQ(patterns["worst-cyclic"]["order"].size(), 33U);
  EXPECT_EQ(patterns["worst-cyclic"]["order"][1], 32);
}

TEST(BEffFacts, OrdersOfManyRanksAreLeftOut) {
  const Json patterns = facts(33, 32);
  EXPECT_FALSE(patterns["random-00"].contains("order"));
  EXPECT_TRUE(patterns["cyclic-3d-all"].contains("order"));  // 32 of them
  EXPECT_EQ(patterns["random-00"]["rings"], Json::parse("[33]"));
}

/// Published: of two and three ranks all rings are the same, of 33 the last two.
TEST(BEffFacts, PatternsThatAreAsEarlierOnesAreDegenerate) {
  EXPECT_EQ(degenerate(facts(2), "ring-"), 5U);
  EXPECT_EQ(degenerate(facts(2), "random-"), 30U);
  EXPECT_EQ(degenerate(facts(5), "ring-"), 4U);
  EXPECT_EQ(degenerate(facts(7), "ring-"), 3U);
  EXPECT_EQ(degenerate(facts(24), "ring-"), 2U);
  EXPECT_EQ(degenerate(facts(100), "ring-"), 0U);
  EXPECT_EQ(degenerate(facts(100), "random-"), 0U);
  const Json of_33 = facts(33);
  EXPECT_EQ(of_33["ring-5"]["same_as"], "ring-4");
  EXPECT_FALSE(of_33["ring-4"].contains("same_as"));
  EXPECT_EQ(facts(2)["best-bisection"]["degenerate"], false);  // one after the other, not both at once
  EXPECT_EQ(facts(2)["worst-bisection"]["same_as"], "best-bisection");
}

}  // namespace ullage::b_eff_test
