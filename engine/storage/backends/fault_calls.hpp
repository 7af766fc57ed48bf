// SPDX-License-Identifier: Apache-2.0
// What backend `fault` does to a call that is to go wrong, whatever kind of file it is of.
#pragma once

#include <cerrno>
#include <cmath>
#include <ctime>

#include "base/clock.hpp"
#include "base/meter.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "storage/fault_injector.hpp"
#include "storage/viewed_file.hpp"

namespace ullage::faults {

inline void sleep_for(double seconds) {
  const double whole = std::floor(seconds);
  timespec left{static_cast<std::time_t>(whole), static_cast<long>((seconds - whole) * 1e9)};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

/// Waits until the process is ended.
[[noreturn]] inline void hang() {
  while (true) sleep_for(1);
}

[[nodiscard]] inline Error injected(int errno_value, FaultOperation operation, const std::string& where,
                                    std::optional<std::uint64_t> offset_bytes = {}) {
  Error error = errno_error(errno_value, word_of(operation), where, offset_bytes);
  error.text += " (injected)";
  return error;
}

/// Does what one call of anything but a transfer suffers: the delay, or the error.
[[nodiscard]] inline Status inject_fault(FaultInjector& injector, FaultOperation operation, const std::string& where) {
  if (!injector.next_is_chosen(operation) || !injector.mine()) return {};
  const FaultParameters& parameters = injector.parameters();
  if (parameters.kind == FaultKind::hang) hang();
  if (parameters.kind == FaultKind::delay) {
    sleep_for(parameters.delay_s);
    return {};
  }
  return fail(injected(errno_of(parameters.kind), operation, where));
}

[[nodiscard]] inline FaultOperation operation_of(Direction direction) {
  return direction == Direction::write ? FaultOperation::write : FaultOperation::read;
}

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

/// Does to a chosen call what its kind says: `as_it_is` does it, `flipped` with a wrong bit, `failed` takes the errno
/// of what it suffers instead. A short count is an error, EIO, where nobody goes on in the middle of a call.
template <class AsItIs, class Flipped, class Failed>
[[nodiscard]] Status go_wrong(const FaultParameters& parameters, const AsItIs& as_it_is, const Flipped& flipped,
                              const Failed& failed) {
  switch (parameters.kind) {
    case FaultKind::hang:
      hang();
    case FaultKind::delay:
      sleep_for(parameters.delay_s);
      return as_it_is();
    case FaultKind::flip:
      return flipped();
    default:
      return failed(errno_of(parameters.kind));
  }
}

/// One bit of data, the chosen one modulo their length.
inline void flip(const FaultInjector& injector, std::span<std::byte> data) {
  if (data.empty()) return;
  const std::uint64_t bit = injector.parameters().flip_bit % (std::uint64_t{data.size()} * 8);
  data[bit / 8] ^= std::byte{1} << static_cast<unsigned>(bit % 8);
}

}  // namespace ullage::faults
