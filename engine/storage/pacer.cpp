// SPDX-License-Identifier: Apache-2.0
#include "storage/pacer.hpp"

#include <sys/prctl.h>

#include <cerrno>
#include <ctime>

#include "base/clock.hpp"

namespace ullage {
namespace {

constexpr std::int64_t longest_wake_up_ns = 150'000;  // of an idle core in a virtual machine, mostly
constexpr std::int64_t not_worth_a_sleep_ns = 2'000;

}  // namespace

Pacer::Pacer(bool spins)
    : spin_ns_(spins ? longest_wake_up_ns : not_worth_a_sleep_ns),
      slack_before_ns_(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)) {
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

Pacer::~Pacer() {
  if (slack_before_ns_ > 0) prctl(PR_SET_TIMERSLACK, slack_before_ns_, 0, 0, 0);
}

void Pacer::wait_until(std::int64_t moment_ns) const noexcept {
  const bool spins = spin_ns_ > not_worth_a_sleep_ns;
  std::int64_t left_ns = moment_ns - now_ns();
  if (left_ns > spin_ns_) {
    const std::int64_t wake_ns = spins ? moment_ns - spin_ns_ : moment_ns;
    const timespec wake{static_cast<std::time_t>(wake_ns / 1'000'000'000), static_cast<long>(wake_ns % 1'000'000'000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr) == EINTR) {
    }
    left_ns = moment_ns - now_ns();
  }
  while (left_ns > 0) left_ns = moment_ns - now_ns();
}

}  // namespace ullage
