// SPDX-License-Identifier: Apache-2.0
#include "storage/backends/fault_calls.hpp"

#include <cerrno>
#include <cmath>
#include <ctime>

namespace ullage::faults {

void sleep_for(double seconds) {
  const double whole = std::floor(seconds);
  timespec left{static_cast<std::time_t>(whole), static_cast<long>((seconds - whole) * 1e9)};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

void hang() {
  while (true) sleep_for(1);
}

Error injected(int errno_value, FaultOperation operation, const std::string& where,
               std::optional<std::uint64_t> offset_bytes) {
  Error error = errno_error(errno_value, word(operation), where, offset_bytes);
  error.text += " (injected)";
  return error;
}

Status inject_fault(FaultInjector& injector, FaultOperation operation, const std::string& where) {
  if (!injector.next_is_chosen(operation) || !injector.mine()) return {};
  const FaultParameters& parameters = injector.parameters();
  if (parameters.kind == FaultKind::hang) hang();
  if (parameters.kind == FaultKind::delay) {
    sleep_for(parameters.delay_s);
    return {};
  }
  return fail(injected(errno_of(parameters.kind), operation, where));
}

FaultOperation operation_of(Direction direction) {
  return direction == Direction::write ? FaultOperation::write : FaultOperation::read;
}

void flip(const FaultInjector& injector, std::span<std::byte> data) {
  if (data.empty()) return;
  const std::uint64_t bit = injector.parameters().flip_bit % (std::uint64_t{data.size()} * 8);
  data[bit / 8] ^= std::byte{1} << static_cast<unsigned>(bit % 8);
}

}  // namespace ullage::faults
