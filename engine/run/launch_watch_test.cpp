// SPDX-License-Identifier: Apache-2.0
#include "run/launch_watch.hpp"

#include <gtest/gtest.h>

#include "run/test_support.hpp"

namespace ullage::launch_watch_test {

class MpiLaunchWatch : public ::testing::Test {
 protected:
  MpiLaunchWatch() { plan_.records = folder_.path() + "/records.ndjson"; }
  [[nodiscard]] bool is_alive() const { return std::filesystem::exists(plan_.records + ".alive"); }

  test::KeptSignals kept_;
  mpi::World world_;
  test::SharedFolder folder_{world_};
  Plan plan_;
};

TEST_F(MpiLaunchWatch, CountsCasesAsTheEndSaysThem) {
  LaunchWatch watch(plan_, world_);
  for (const auto& [id, ok, cut] :
       {std::tuple("a", true, false), std::tuple("a", true, false), std::tuple("b", true, false),
        std::tuple("b", false, false), std::tuple("c", true, true), std::tuple("d", false, true)}) {
    watch.begins({id, 0});
    watch.ends(ok, cut);
  }
  const CaseCounts tally = watch.tally();
  EXPECT_EQ(tally.ok, (std::set<std::string>{"a"}));
  EXPECT_EQ(tally.failed, (std::set<std::string>{"b"}));
  EXPECT_EQ(tally.repetitions, 3);
}

TEST_F(MpiLaunchWatch, ElapsedTimeIsSinceTheOrigin) {
  LaunchWatch watch(plan_, world_);
  watch.set_origin(now_ns() - 5'000'000'000);
  EXPECT_GE(watch.elapsed_ns(), 5'000'000'000);
}

TEST_F(MpiLaunchWatch, GivesASignOfLifeFromItsBeginningToItsEnd) {
  {
    const LaunchWatch watch(plan_, world_);
    // No record is written before: whoever is stopped by then has been heard of.
    EXPECT_TRUE(is_alive() || !world_.root());
    world_.all().barrier();
  }
  world_.all().barrier();
  EXPECT_FALSE(is_alive());
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

TEST(SignOfLife, IsGivenAtOnceAndChangesWithEachSign) {
  const test::TempFolder folder;
  const std::string records = folder.path() + "/records.ndjson";
  {
    SignOfLife sign(records, true);
    const std::string first = first_line(records + ".alive");
    EXPECT_FALSE(first.empty());
    sign.give();
    EXPECT_NE(first_line(records + ".alive"), first);
  }
  EXPECT_FALSE(std::filesystem::exists(records + ".alive"));
}

TEST(SignOfLife, OfAnotherRankMakesNoFile) {
  const test::TempFolder folder;
  SignOfLife sign(folder.path() + "/records.ndjson", false);
  sign.give();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SignOfLife, IsNotGivenWhereNoFileCanBe) {
  const test::TempFolder folder;
  SignOfLife sign(folder.path() + "/missing/records.ndjson", true);
  sign.give();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace ullage::launch_watch_test
