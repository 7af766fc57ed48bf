// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "mpi/comm.hpp"

namespace ullage::mpi {

/// A barrier for ranks that may come minutes after each other: whoever waits looks every fifth of a millisecond, leaves
/// its core to others in between, and calls `meanwhile`. Nothing for inside a timer.
void sleeping_barrier(const Comm& everyone, const std::function<void()>& meanwhile);

}  // namespace ullage::mpi
