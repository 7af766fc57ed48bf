// SPDX-License-Identifier: Apache-2.0
// A collective that one rank enters and another does not is a hang without a word. In the builds of the tests and of
// the sanitizers every collective of a communicator is preceded by a small one that compares where the ranks call it
// from, and as which one. So is the opening of a shared file, and the making of a window. A difference is a message
// that names both places. The product's build has nothing of this. Two kinds of calls are not compared. What workloads
// measure (collectives under test, transfers of a shared file) is called from different places by ranks in error, which
// go on taking part. And sleeping_barrier() is for ranks that come minutes after each other, which a comparison would
// keep from sleeping.
#pragma once

#include <functional>
#include <string>

#include "mpi/comm.hpp"

namespace ullage::mpi {

/// Is told what differs, on every rank, in place of ending them all.
using MismatchReporter = std::function<void(const std::string& message)>;

/// Returns whether the library that is linked checks.
[[nodiscard]] bool collectives_are_checked();
/// Tells `reporter` of collectives that are called through this object.
void report_mismatches(const Comm& comm, MismatchReporter reporter);

/// Collective. Called inside mpi/ only, by builds that check.
void check_call_site(const Comm::Handle& handle, const CallSite& site);

}  // namespace ullage::mpi
