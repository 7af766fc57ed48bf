// SPDX-License-Identifier: Apache-2.0
#include "storage/fault_injector.hpp"

#include <gtest/gtest.h>

namespace ullage::fault_injector_test {

FaultParameters of(std::uint64_t after, std::uint64_t count, std::int64_t rank = -1) {
  FaultParameters parameters;
  parameters.after = after;
  parameters.count = count;
  parameters.rank = rank;
  return parameters;
}

std::vector<bool> chosen(FaultInjector injector, int calls) {
  std::vector<bool> out;
  for (int i = 0; i < calls; ++i) out.push_back(injector.next_is_chosen(FaultOperation::write));
  return out;
}

TEST(FaultInjector, ChoosesFromAfterOnCountTimes) {
  EXPECT_EQ(chosen({of(0, 1), 0}, 3), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(chosen({of(2, 2), 0}, 5), (std::vector<bool>{false, false, true, true, false}));
  EXPECT_EQ(chosen({of(1, 0), 0}, 4), (std::vector<bool>{false, true, true, true}));
}

TEST(FaultInjector, OtherOperationsDoNotCount) {
  FaultInjector injector(of(1, 1), 0);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(injector.next_is_chosen(FaultOperation::read));
  EXPECT_FALSE(injector.next_is_chosen(FaultOperation::write));
  EXPECT_TRUE(injector.next_is_chosen(FaultOperation::write));
}

TEST(FaultInjector, UntouchedCountsDownInBatches) {
  FaultInjector injector(of(10, 1), 0);
  EXPECT_EQ(injector.untouched(FaultOperation::write), 10U);
  EXPECT_EQ(injector.untouched(FaultOperation::sync), FaultInjector::no_end);
  injector.pass(FaultOperation::write, 10);
  EXPECT_EQ(injector.untouched(FaultOperation::write), 0U);
  injector.pass(FaultOperation::write, 1);
  EXPECT_EQ(injector.untouched(FaultOperation::write), FaultInjector::no_end);
}

TEST(FaultInjector, IsOfOneRankOrAll) {
  EXPECT_TRUE(FaultInjector(of(0, 1, -1), 3).mine());
  EXPECT_TRUE(FaultInjector(of(0, 1, 3), 3).mine());
  EXPECT_FALSE(FaultInjector(of(0, 1, 2), 3).mine());
}

TEST(FaultParameters, ShortAndFlipAreOfData) {
  FaultParameters parameters;
  for (const auto kind : {FaultKind::short_count, FaultKind::flip}) {
    parameters.kind = kind;
    for (const auto operation : {FaultOperation::write, FaultOperation::read}) {
      parameters.operation = operation;
      EXPECT_TRUE(check_fault(parameters, "/p"));
    }
    parameters.operation = FaultOperation::sync;
    const auto status = check_fault(parameters, "/p");
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().where, "/p/operation");
  }
  parameters.kind = FaultKind::hang;
  EXPECT_TRUE(check_fault(parameters, "/p"));
}

TEST(FaultParameters, KindsHaveTheirErrno) {
  EXPECT_EQ(errno_of(FaultKind::eio), EIO);
  EXPECT_EQ(errno_of(FaultKind::enospc), ENOSPC);
  EXPECT_EQ(errno_of(FaultKind::edquot), EDQUOT);
  EXPECT_EQ(errno_of(FaultKind::short_count), EIO);
}

}  // namespace ullage::fault_injector_test
