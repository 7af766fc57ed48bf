// SPDX-License-Identifier: Apache-2.0
#include "storage/backends/fault_calls.hpp"

#include <gtest/gtest.h>

namespace ullage::fault_calls_test {

FaultParameters parameters_of(FaultKind kind) {
  FaultParameters parameters;
  parameters.kind = kind;
  parameters.operation = FaultOperation::sync;
  parameters.after = 1;
  return parameters;
}

TEST(FaultCalls, TheChosenCallSuffersAnErrorThatSaysSo) {
  FaultInjector injector(parameters_of(FaultKind::enospc), 0);
  EXPECT_TRUE(faults::inject_fault(injector, FaultOperation::sync, "/f"));
  EXPECT_TRUE(faults::inject_fault(injector, FaultOperation::close, "/f")) << "another operation";
  const auto injected = faults::inject_fault(injector, FaultOperation::sync, "/f");
  ASSERT_FALSE(injected);
  EXPECT_EQ(to_line(injected.error()), "sync /f: No space left on device (injected) (errno 28)");
  EXPECT_TRUE(faults::inject_fault(injector, FaultOperation::sync, "/f"));
}

TEST(FaultCalls, ADelayIsNoError) {
  FaultParameters parameters = parameters_of(FaultKind::delay);
  parameters.after = 0;
  parameters.delay_s = 0.03;
  FaultInjector injector(parameters, 0);
  const std::int64_t start = now_ns();
  EXPECT_TRUE(faults::inject_fault(injector, FaultOperation::sync, "/f"));
  EXPECT_GE(now_ns() - start, 30'000'000);
}

TEST(FaultCalls, FlipsTheChosenBitModuloTheLength) {
  FaultParameters parameters;
  parameters.flip_bit = 19;
  const FaultInjector injector(parameters, 0);
  std::array<std::byte, 2> data{};
  faults::flip(injector, data);
  EXPECT_EQ(data, (std::array<std::byte, 2>{std::byte{8}, std::byte{0}}));
  faults::flip(injector, {});
}

TEST(FaultCalls, DirectionsAreOperations) {
  EXPECT_EQ(faults::operation_of(Direction::write), FaultOperation::write);
  EXPECT_EQ(faults::operation_of(Direction::read), FaultOperation::read);
}

}  // namespace ullage::fault_calls_test
