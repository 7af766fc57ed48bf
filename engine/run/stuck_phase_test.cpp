// SPDX-License-Identifier: Apache-2.0
// A rank that hangs in a phase, outside of its stages, is found by its own watchdog.
#include <gtest/gtest.h>

#include "run/phase_runner.hpp"

namespace ullage::stuck_phase_test {

class MpiStuckPhase : public ::testing::Test {
 protected:
  mpi::World world_;
  mpi::CommonClock clock_{world_};
  Meter meter_{StopFlags::instance().now()};
};

/// Does nothing in a step of the last rank until its watchdog has called that a hang.
class Stuck final : public PhaseWork {
 public:
  std::string where;
  std::function<void()> hang;

  [[nodiscard]] PhaseInfo info() const override { return {.name = "write", .access = Access::write}; }
  [[nodiscard]] Status before() override { return stop_at("before"); }
  [[nodiscard]] std::uint64_t operations() const override {
    (void)stop_at("operations");
    return 1;
  }
  [[nodiscard]] Status execute(Meter& meter) override {
    (void)meter.completed(1);
    return {};
  }
  [[nodiscard]] Counters counters() const override {
    (void)stop_at("counters");
    return {};
  }
  [[nodiscard]] Gauges gauges() const override {
    (void)stop_at("gauges");
    return {};
  }
  void add_facts(Json&) const override { (void)stop_at("facts"); }
  [[nodiscard]] Map hints_granted() const override {
    (void)stop_at("hints");
    return {};
  }

 private:
  Status stop_at(const std::string& step) const {
    if (step == where) hang();
    return {};
  }
};

/// The others wait for it, for longer than their own limit. Where one stands still itself, all try again.
TEST_F(MpiStuckPhase, RankThatHangsBetweenTheStagesIsFoundThereAndNoOther) {
  constexpr int most_tries = 20;
  for (const auto& [where, told] : {std::pair("before", "write: before"), std::pair("operations", "write: prepare"),
                                    std::pair("counters", "write: results"), std::pair("gauges", "write: results"),
                                    std::pair("facts", "write: results"), std::pair("hints", "write: results")}) {
    const std::string expected = world_.rank() == world_.size() - 1 ? told : "";
    bool is_right = false;
    for (int tries = 0; tries < most_tries && !is_right; ++tries) {
      std::string found;
      std::atomic<bool> is_told = false;
      Watchdog watchdog({.limit_ns = 500'000'000, .on_hang = [&](const std::string& what, std::int64_t) {
                           if (!is_told) found = what;
                           is_told = true;
                         }});
      Stuck stuck;
      stuck.where = where;
      stuck.hang = [&] {
        for (int i = 0; i < 3000 && !expected.empty() && !is_told; ++i)
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
      };
      const RunContext context{&world_, &clock_, &watchdog, &meter_, {}, 0};
      Json record;
      EXPECT_EQ(run_phase(context, nullptr, stuck, record).status, PhaseStatus::ok);
      watchdog.end();
      is_right = world_.all().all(found == expected);
    }
    EXPECT_TRUE(is_right) << where;
  }
}

}  // namespace ullage::stuck_phase_test
