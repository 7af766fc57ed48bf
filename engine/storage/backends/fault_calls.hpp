// SPDX-License-Identifier: Apache-2.0
// What backend `fault` does to a call that is to go wrong, whatever kind of file it is of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/clock.hpp"
#include "base/meter.hpp"
#include "base/result.hpp"
#include "storage/fault_injector.hpp"
#include "storage/viewed_file.hpp"

namespace ullage::faults {

void sleep_for(double seconds);
/// Waits until the process is ended.
[[noreturn]] void hang();

[[nodiscard]] Error injected(int errno_value, FaultOperation operation, const std::string& where,
                             std::optional<std::uint64_t> offset_bytes = {});

/// Does what one call of anything but a transfer suffers: the delay, or the error.
[[nodiscard]] Status inject_fault(FaultInjector& injector, FaultOperation operation, const std::string& where);

[[nodiscard]] FaultOperation operation_of(Direction direction);

/// A file's sync, unless the sync is to go wrong.
template <class FileT>
[[nodiscard]] Status sync(FaultInjector& injector, FileT& inner, const std::string& where) {
  if (auto status = inject_fault(injector, FaultOperation::sync, where); !status) return status;
  return inner.sync();
}

/// A file's close, which happens even where it is to go wrong.
template <class FileT>
[[nodiscard]] Status close(FaultInjector& injector, FileT& inner, const std::string& where) {
  const Status status = inject_fault(injector, FaultOperation::close, where);
  const Status closed = inner.close();
  return status ? closed : status;
}

/// `call` with a meter for what no phase counts.
template <class Call>
[[nodiscard]] Status uncounted(const Call& call) {
  Meter unused;
  unused.use_histogram(false);
  unused.start(now_ns());
  return call(unused);
}

/// One operation that no phase counts.
template <class FileT, class OperationT>
[[nodiscard]] Status move_uncounted(FileT& inner, Direction direction, const OperationT& operation) {
  return uncounted([&](Meter& meter) { return inner.transfer(direction, {&operation, 1}, meter); });
}

/// One bit of data, the chosen one modulo their length.
void flip(const FaultInjector& injector, std::span<std::byte> data);

}  // namespace ullage::faults
