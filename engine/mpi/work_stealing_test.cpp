// SPDX-License-Identifier: Apache-2.0
// Work that makes work: every piece must be done exactly once, by whomever, and everybody must learn of the end.
#include "mpi/work_stealing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <thread>

namespace ullage::mpi::work_stealing_test {
namespace {

/// A piece is a number of pieces that it is made of, itself included.
class Pieces final : public SharedWork {
 public:
  [[nodiscard]] std::string give() noexcept override {
    std::string given;
    for (std::size_t left = (pieces_.size() + 1) / 2; left > 0; --left) {
      given.append(reinterpret_cast<const char*>(&pieces_.front()), sizeof(std::uint32_t));
      pieces_.pop_front();
    }
    gave += given.empty() ? 0 : 1;
    return given;
  }
  void take(const std::string& given) noexcept override {
    ++took;
    for (std::size_t at = 0; at < given.size(); at += sizeof(std::uint32_t)) {
      std::uint32_t piece = 0;
      std::memcpy(&piece, given.data() + at, sizeof(piece));
      add(piece);
    }
  }
  void lose() noexcept override { ADD_FAILURE() << "there is memory enough"; }
  void add(std::uint32_t piece) { pieces_.push_back(piece); }
  [[nodiscard]] bool empty() const { return pieces_.empty(); }
  void do_one() {
    std::uint32_t rest = pieces_.back() - 1;
    pieces_.pop_back();
    ++done;
    for (std::uint32_t share = rest / 2; rest > 0; rest -= share, share = rest) {
      share = std::max(share, 1U);
      add(share);
    }
  }

  std::uint64_t done = 0;
  std::uint64_t gave = 0;
  std::uint64_t took = 0;

 private:
  std::deque<std::uint32_t> pieces_;
};

/// All ranks do all of it; `pause` is what a piece takes.
void do_all(const Comm& everyone, Pieces& pieces, std::chrono::microseconds pause = {}) {
  WorkStealing stealing(everyone, pieces);
  do {
    while (!pieces.empty()) {
      pieces.do_one();
      if (pause.count() > 0) std::this_thread::sleep_for(pause);
      stealing.answer();
    }
  } while (stealing.more());
}

TEST(MpiWorkStealing, NothingToDoEndsAtOnce) {
  Pieces pieces;
  do_all(Comm::world(), pieces);
  EXPECT_EQ(Comm::world().sum(pieces.done + pieces.gave), 0U);
}

TEST(MpiWorkStealing, EveryPieceIsDoneOnceWhereverTheWorkBegins) {
  const Comm world = Comm::world();
  constexpr std::uint32_t all = 20'000;
  for (int beginner = 0; beginner < world.size(); ++beginner) {
    Pieces pieces;
    if (world.rank() == beginner) pieces.add(all);
    do_all(world, pieces);
    EXPECT_TRUE(pieces.empty());
    EXPECT_EQ(world.sum(pieces.done), all);
    EXPECT_EQ(world.sum(pieces.gave), world.sum(pieces.took));
  }
}

/// A rank that stands still meanwhile gets none, so one time of many is enough.
TEST(MpiWorkStealing, WorkIsShared) {
  const Comm world = Comm::world();
  bool is_shared = false;
  for (int time = 0; time < 20 && !is_shared; ++time) {
    Pieces pieces;
    if (world.rank() == 0) pieces.add(400);
    do_all(world, pieces, std::chrono::milliseconds(1));
    EXPECT_EQ(world.sum(pieces.done), 400U);
    is_shared = world.all(pieces.done > 0);
  }
  EXPECT_TRUE(is_shared) << "a rank was left without work all the time";
}

/// One piece at a time that wanders, so that at most moments one rank alone is at work and the others think of the end.
TEST(MpiWorkStealing, EndIsNotSeenBeforeTheLastPieceIsDone) {
  const Comm world = Comm::world();
  for (int repetition = 0; repetition < 20; ++repetition) {
    Pieces pieces;
    WorkStealing stealing(world, pieces);
    std::uint32_t steps = 0;
    if (world.rank() == 0) pieces.add(1);
    const std::uint32_t mine = 50;  // of the steps that a rank may add
    do {
      while (!pieces.empty()) {
        pieces.do_one();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        if (steps++ < mine) pieces.add(1);
        stealing.answer();
      }
    } while (stealing.more());
    EXPECT_TRUE(pieces.empty());
    EXPECT_EQ(world.sum(pieces.gave), world.sum(pieces.took));
    EXPECT_GE(world.sum(pieces.done), static_cast<std::uint64_t>(mine) + 1);
  }
}

TEST(MpiWorkStealing, GroupsOfRanksDoNotDisturbEachOther) {
  const Comm world = Comm::world();
  const Comm group = world.split(world.rank() % 2, world.rank());
  Pieces pieces;
  if (group.rank() == 0) pieces.add(5'000);
  do_all(group, pieces);
  EXPECT_EQ(group.sum(pieces.done), 5'000U);
}

}  // namespace
}  // namespace ullage::mpi::work_stealing_test
