// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/phase.hpp"

#include "storage/workloads/sar/test_support.hpp"

namespace ullage::sar_test {
namespace {

/// An operation moves nothing; what it is asked for is noted.
class IdlePhase final : public SarPhase {
 public:
  IdlePhase(const SarState& state, Access access, std::uint64_t operations, std::size_t slot_bytes)
      : SarPhase(state, {"idle", access, {SarPart::open}, operations, slot_bytes, 100}) {}
  std::vector<std::uint64_t> readied;
  std::vector<std::uint64_t> checked;
  std::uint64_t again = 0;
  [[nodiscard]] std::size_t extra_bytes() const { return extra().size(); }

 protected:
  void ready(std::uint64_t operation, std::size_t slot) override {
    EXPECT_EQ(slot_at(slot).size(), 5000U);
    readied.push_back(operation);
  }
  [[nodiscard]] Result<std::uint64_t> operate(std::size_t slot) override { return slot + 1; }
  [[nodiscard]] Status read_again(std::size_t /*slot*/) override {
    ++again;
    return {};
  }
  void check(std::uint64_t operation, std::size_t /*slot*/) override { checked.push_back(operation); }
};

class MpiSarPhase : public OneRepetition {};

TEST_F(MpiSarPhase, WhatFitsIntoACacheIsReadiedAtOnceAndAllIsCheckedAfterTheTimer) {
  const SarState state(parameters_of({}), context());
  IdlePhase phase(state, Access::read, 40, 5000);
  EXPECT_EQ(phase.extra_bytes(), 100U);
  ASSERT_TRUE(phase.before().has_value());
  test::RunningMeter meter;
  meter->use_parts(1);
  meter->start(now_ns());
  EXPECT_EQ(phase.prepare(0, 40), 32U) << "256 KiB of slots of two pages";
  EXPECT_TRUE(phase.execute(*meter).has_value());
  EXPECT_EQ(phase.prepare(32, 8), 8U);
  EXPECT_TRUE(phase.execute(*meter).has_value());
  EXPECT_EQ(meter->operations(), 40U);
  EXPECT_EQ(meter->bytes(), 32U * 33 / 2 + 8U * 9 / 2);
  EXPECT_TRUE(phase.checked.empty());
  (void)phase.after(40, *meter);
  EXPECT_EQ(phase.checked.size(), 40U);
  EXPECT_EQ(phase.checked.front(), 32U) << "first what is in the slots";
  EXPECT_EQ(phase.again, 32U);
}

TEST_F(MpiSarPhase, NothingIsCheckedOfAPhaseThatWritesOrUnasked) {
  for (const bool unasked : {false, true}) {
    const SarState state(parameters_of({{"verify", words(unasked ? "none" : "full")}}), context());
    IdlePhase phase(state, unasked ? Access::read : Access::write, 3, 5000);
    test::RunningMeter meter;
    meter->use_parts(1);
    meter->start(now_ns());
    EXPECT_EQ(phase.prepare(0, 3), 3U);
    EXPECT_TRUE(phase.execute(*meter).has_value());
    (void)phase.after(3, *meter);
    EXPECT_TRUE(phase.checked.empty());
  }
}

}  // namespace
}  // namespace ullage::sar_test
