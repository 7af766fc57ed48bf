// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "storage/backends/fault_arrays.hpp"
#include "storage/test_support.hpp"

namespace ullage::fault_arrays_test {

using test::RunningMeter;

/// Notes what it is told to do.
class NotedArrays final : public ArrayFile {
 public:
  NotedArrays(std::vector<ArrayRows>& noted, std::vector<std::byte>& first_bytes)
      : noted_(noted), first_bytes_(first_bytes) {}
  [[nodiscard]] Status transfer(Direction, std::span<const ArrayRows> operations, Meter& meter) override {
    for (const ArrayRows& rows : operations) {
      noted_.push_back(rows);
      first_bytes_.push_back(rows.data[0]);
      (void)meter.completed(rows.rows);
    }
    return {};
  }
  [[nodiscard]] Status sync() override { return {}; }
  [[nodiscard]] Status close() override { return {}; }

 private:
  std::vector<ArrayRows>& noted_;
  std::vector<std::byte>& first_bytes_;
};

struct FaultOutcome {
  std::vector<ArrayRows> noted;
  std::vector<std::byte> first_bytes;  // of each, as it was then
  std::byte left{};                    // in the caller's memory
  Status status;
  std::uint64_t operations = 0;
};

FaultOutcome inject_fault(FaultKind kind, bool collective) {
  FaultParameters parameters;
  parameters.kind = kind;
  parameters.operation = FaultOperation::write;
  parameters.after = 1;
  FaultInjector injector(parameters, 0);
  const std::vector<ArraySpec> specs{{"a", ElementType::byte, {8}}};
  std::vector<std::byte> data(8);
  FaultOutcome result;
  const auto file = std::make_unique<FaultArrayFile>(std::make_unique<NotedArrays>(result.noted, result.first_bytes),
                                                     injector, "f", specs, collective);
  const std::vector<ArrayRows> operations(3, {0, 0, 8, data.data()});
  RunningMeter meter;
  result.status = file->transfer(Direction::write, operations, *meter);
  result.operations = meter->operations();
  result.left = data[0];
  return result;
}

TEST(FaultArrays, AnErrorEndsTheTransfer) {
  const FaultOutcome found = inject_fault(FaultKind::enospc, false);
  ASSERT_FALSE(found.status);
  EXPECT_EQ(found.status.error().errno_value, ENOSPC);
  EXPECT_EQ(found.noted.size(), 1U);
  EXPECT_EQ(found.operations, 1U);
}

TEST(FaultArrays, InACollectiveFileItsRankGoesOnTakingPart) {
  const FaultOutcome found = inject_fault(FaultKind::eio, true);
  ASSERT_FALSE(found.status);
  ASSERT_EQ(found.noted.size(), 3U);
  EXPECT_EQ(found.noted[0].rows, 8U);
  EXPECT_EQ(found.noted[1].rows, 0U);
  EXPECT_EQ(found.noted[2].rows, 0U);
  EXPECT_EQ(found.operations, 1U);
}

TEST(FaultArrays, AFlippedBitIsNotInTheCallersData) {
  const FaultOutcome found = inject_fault(FaultKind::flip, false);
  EXPECT_TRUE(found.status);
  ASSERT_EQ(found.noted.size(), 3U);
  EXPECT_EQ(found.first_bytes, (std::vector<std::byte>{std::byte{0}, std::byte{1}, std::byte{0}}));
  EXPECT_EQ(found.left, std::byte{0});
}

}  // namespace ullage::fault_arrays_test
