// SPDX-License-Identifier: Apache-2.0
#include "storage/bus_errors.hpp"

#include <csignal>
#include <mutex>

namespace ullage {
namespace detail {

thread_local constinit sigjmp_buf* after_bus_error = nullptr;

}  // namespace detail

namespace {

struct Installed {
  std::mutex mutex;
  int count = 0;              // guarded by mutex
  struct sigaction before{};  // guarded by mutex
};

Installed& installed() {
  static Installed one;
  return one;
}

/// The default action, by touching the page again, where nobody waits for it: a core file then shows the true place.
void go_on(int number) {
  if (detail::after_bus_error != nullptr) siglongjmp(*detail::after_bus_error, 1);
  struct sigaction end{};
  end.sa_handler = SIG_DFL;
  (void)sigaction(number, &end, nullptr);
}

}  // namespace

BusErrorHandler::BusErrorHandler() {
  Installed& one = installed();
  const std::scoped_lock lock(one.mutex);
  if (one.count++ > 0) return;
  struct sigaction action{};
  action.sa_handler = go_on;
  action.sa_flags = SA_NODEFER;  // the handler does not return, so nothing would unblock the signal
  (void)sigaction(SIGBUS, &action, &one.before);
}

BusErrorHandler::~BusErrorHandler() {
  Installed& one = installed();
  const std::scoped_lock lock(one.mutex);
  if (--one.count == 0) (void)sigaction(SIGBUS, &one.before, nullptr);
}

}  // namespace ullage
