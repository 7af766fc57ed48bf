// SPDX-License-Identifier: Apache-2.0
#include "base/signals.hpp"

#include <csignal>

namespace ullage {
namespace {

extern "C" void on_stop_signal(int) { StopFlags::instance().request(); }

}  // namespace

StopFlags& StopFlags::instance() {
  static StopFlags flags;
  return flags;
}

void StopFlags::install() {
  struct sigaction action{};
  action.sa_handler = on_stop_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1}) sigaction(number, &action, nullptr);
}

void StopFlags::request() noexcept {
  if (requested_.exchange(true)) stop_now();
}

void StopFlags::reset() noexcept {
  requested_.store(false);
  now_.store(false);
}

}  // namespace ullage
