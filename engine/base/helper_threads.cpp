// SPDX-License-Identifier: Apache-2.0
#include "base/helper_threads.hpp"

namespace ullage {

HelperClock::HelperClock() : meter_(std::make_unique<Meter>()) {
  meter_->use_histogram(false);
  meter_->start(meter_->clock_ns());
}

}  // namespace ullage
