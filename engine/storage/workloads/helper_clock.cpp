// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/helper_clock.hpp"

#include <atomic>

namespace ullage {
namespace {

const std::atomic<bool>& never_stopped() {
  static const std::atomic<bool> never = false;
  return never;
}

}  // namespace

HelperClock::HelperClock() : meter_(std::make_unique<Meter>(never_stopped())) {
  meter_->use_histogram(false);
  meter_->start(meter_->clock_ns());
}

}  // namespace ullage
