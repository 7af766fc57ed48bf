// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "base/parameters.hpp"
#include "mpi/messages.hpp"

namespace ullage {

/// The methods stand in the order in which b_eff takes them; the enumerator is the place in it.
inline constexpr std::array message_methods{mpi::MessageMethod::sendrecv, mpi::MessageMethod::alltoallv,
                                            mpi::MessageMethod::nonblocking};

/// Names them as plans, gauges and reports call them.
[[nodiscard]] inline Words<mpi::MessageMethod> message_method_words() {
  return {{mpi::MessageMethod::sendrecv, "sendrecv"},
          {mpi::MessageMethod::alltoallv, "alltoallv"},
          {mpi::MessageMethod::nonblocking, "nonblocking"}};
}

[[nodiscard]] inline std::string word_of(mpi::MessageMethod method) {
  return message_method_words()[static_cast<std::size_t>(method)].second;
}

}  // namespace ullage
