// SPDX-License-Identifier: Apache-2.0
// How the ranks of a communicator learn what became of a step that each of them has done alone. All agreement of ranks
// on success is here: a rank whose step failed stays until the others know it, and none goes on without the rest.
#pragma once

#include <type_traits>
#include <utility>

#include "base/resources.hpp"
#include "base/result.hpp"
#include "mpi/comm.hpp"

namespace ullage::mpi {

/// Says what became of a step that every rank has done.
struct Agreement {
  bool everywhere = true;  // it went well on all ranks; the same on each of them
  Status own;              // of this rank alone
};

/// Collective: whether the step went well on all ranks.
[[nodiscard]] bool all_succeeded(const Comm& everyone, const Status& own, CallSite site = CallSite::current());

/// Collective: the same, with what became of the step here.
[[nodiscard]] Agreement agree(const Comm& everyone, Status own, CallSite site = CallSite::current());

/// Collective: success when every rank had it. Else each rank that failed keeps its own error, and the others get that
/// of the lowest rank that failed, which its text names.
[[nodiscard]] Status share_status(const Comm& everyone, Status own, CallSite site = CallSite::current());

/// Collective: each rank tries `allocate`, which waits for nobody and returns a Status or nothing, and gets what
/// share_status() makes of it. Where any rank has failed, none goes on to what it wanted the memory or the threads for.
///
/// The rule: between the collectives, or the messages, of a step that ranks do together, a rank calls nothing that can
/// fail. Whatever grows with parameters, ranks or messages it gets before, by this. Only a few KB that do not grow (a
/// line of text, a handful of numbers) are taken in between, since agreeing on them takes as much itself.
template <class Allocate>
[[nodiscard]] Status agreed_allocation(const Comm& everyone, Allocate&& allocate, CallSite site = CallSite::current()) {
  return share_status(everyone, catch_resource_errors([&] -> Status {
                        if constexpr (std::is_void_v<std::invoke_result_t<Allocate&>>) {
                          allocate();
                          return {};
                        } else {
                          return allocate();
                        }
                      }),
                      site);
}

/// Does the same for calls that return no error: it is thrown, on all ranks, and an error where it is caught.
template <class Allocate>
void allocate_or_throw(const Comm& everyone, Allocate&& allocate, CallSite site = CallSite::current()) {
  if (Status made = agreed_allocation(everyone, std::forward<Allocate>(allocate), site); !made)
    throw ResourceError(std::move(made.error()));
}

/// A barrier for ranks that may come minutes after each other: whoever waits looks every fifth of a millisecond and
/// leaves its core to others in between. Nothing for inside a timer.
void sleeping_barrier(const Comm& everyone);

}  // namespace ullage::mpi
