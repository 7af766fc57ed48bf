// SPDX-License-Identifier: Apache-2.0
// SIGBUS at a page of a mapped file, because the file was truncated, its file system is full or its device failed: an
// error of whoever touched the page, instead of the end of the process.
#pragma once

#include <csetjmp>

namespace ullage {

/// While there is one, SIGBUS in a thread inside survives_bus_error() ends what that does, and everywhere else the
/// process, as before. Process-wide because signal handlers are.
class BusErrorHandler final {
 public:
  BusErrorHandler();
  ~BusErrorHandler();
  BusErrorHandler(const BusErrorHandler&) = delete;
  BusErrorHandler& operator=(const BusErrorHandler&) = delete;
};

namespace detail {
/// Says where this thread goes on after SIGBUS; null: nowhere.
extern thread_local constinit sigjmp_buf* after_bus_error;
}  // namespace detail

/// False when SIGBUS ended `touch`. Where it may come, `touch` has no object with a destructor: none is run. Needs a
/// BusErrorHandler.
template <class Touch>
[[nodiscard]] bool survives_bus_error(const Touch& touch) {
  sigjmp_buf mark;
  // The signal mask is not saved, which would be a system call: the handler leaves it as it is.
  if (sigsetjmp(mark, 0) != 0) {
    detail::after_bus_error = nullptr;
    return false;
  }
  detail::after_bus_error = &mark;
  touch();
  detail::after_bus_error = nullptr;
  return true;
}

}  // namespace ullage
