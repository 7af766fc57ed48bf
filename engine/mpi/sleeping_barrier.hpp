// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpi/comm.hpp"

namespace ullage::mpi {

/// A barrier for ranks that may come minutes after each other: whoever waits looks every fifth of a millisecond and
/// leaves its core to others in between. Nothing for inside a timer.
void sleeping_barrier(const Comm& everyone);

}  // namespace ullage::mpi
