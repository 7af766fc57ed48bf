// SPDX-License-Identifier: Apache-2.0
#include "run/heartbeats.hpp"

#include <gtest/gtest.h>

namespace ullage::heartbeats_test {

constexpr std::int64_t look_ns = 400'000'000;
constexpr std::int64_t limit_ns = 10 * look_ns;

class MpiHeartbeats : public ::testing::Test {
 protected:
  /// Returns what this rank finds in so many looks, at each of which it says that it lives, if it is to.
  std::optional<int> look(int looks, bool beats) {
    std::optional<int> silent;
    for (int i = 0; i < looks && !silent; ++i) {
      now_ns_ += look_ns;
      if (beats) heartbeats_.beat(turn_, rests_);
      world_.all().barrier();  // in step, so that no rank looks before the others have spoken
      silent = heartbeats_.silent_rank(now_ns_, limit_ns);
      world_.all().barrier();
    }
    return silent;
  }
  /// The rank before this one.
  [[nodiscard]] int before() const { return (world_.rank() + world_.size() - 1) % world_.size(); }

  mpi::World world_;
  Heartbeats heartbeats_{world_};
  std::int64_t now_ns_ = 1;
  std::uint64_t turn_ = 1;
  bool rests_ = false;
};

TEST_F(MpiHeartbeats, AreSharedOnANode) { EXPECT_TRUE(heartbeats_.shared()); }

TEST_F(MpiHeartbeats, NobodyWhoSpeaksIsSilent) { EXPECT_FALSE(look(50, true)); }

TEST_F(MpiHeartbeats, WhoDoesNotSpeakIsFoundByTheNextRank) {
  const auto silent = look(12, false);
  if (world_.size() == 1)
    EXPECT_FALSE(silent) << "a rank alone has nobody to look at";
  else
    EXPECT_EQ(silent, before());
}

TEST_F(MpiHeartbeats, AMachineThatStoodStillIsNoSilence) {
  (void)look(2, true);
  now_ns_ += 100 * limit_ns;
  EXPECT_FALSE(look(5, false)) << "one look counts half a second at most";
}

TEST_F(MpiHeartbeats, WhoHasLeftIsNotLookedAt) {
  heartbeats_.leave();
  EXPECT_FALSE(look(20, false));
}

TEST_F(MpiHeartbeats, WhoDoesNotBeatIsFoundByAllOthers) {
  const auto found = heartbeats_.rank_without_beat(std::chrono::milliseconds(10));
  if (world_.size() == 1)
    EXPECT_FALSE(found);
  else
    EXPECT_EQ(found, world_.root() ? 1 : 0);
  world_.all().barrier();
  heartbeats_.leave();
  world_.all().barrier();
  EXPECT_FALSE(heartbeats_.rank_without_beat(std::chrono::milliseconds(10))) << "they have left";
}

TEST_F(MpiHeartbeats, AllRestOnlyWhenEveryRankDoes) {
  const auto all_rest = [&](int looks) {
    bool found = false;
    for (int i = 0; i < looks; ++i) {
      now_ns_ += look_ns;
      heartbeats_.beat(turn_, rests_);
      world_.all().barrier();
      found = heartbeats_.all_rest(now_ns_, limit_ns);
      world_.all().barrier();
    }
    return found;
  };
  rests_ = !world_.root();
  EXPECT_FALSE(all_rest(20)) << "rank 0 works";
  rests_ = true;
  EXPECT_FALSE(all_rest(5)) << "not for so long";
  ++turn_;
  EXPECT_FALSE(all_rest(9)) << "there was work in between";
  EXPECT_TRUE(all_rest(5));
}

}  // namespace ullage::heartbeats_test
