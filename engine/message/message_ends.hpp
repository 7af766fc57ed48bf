// SPDX-License-Identifier: Apache-2.0
// Whether messages arrive: by their ends, which costs little beside sending them, however long they are. And what
// records say of the ranks and methods of such messages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/parameters.hpp"
#include "mpi/comm.hpp"
#include "mpi/messages.hpp"
#include "work/phase_work.hpp"

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

/// Up to as many ranks, records list something of each rank: a record has a few KB, whatever the number of ranks.
inline constexpr int most_listed_ranks = 32;

/// The number of each rank's node, by rank; empty above most_listed_ranks. Collective.
[[nodiscard]] std::vector<std::uint64_t> nodes_by_rank(const mpi::World& world);

/// Returns the same as facts have it: an object, ranks are the keys.
[[nodiscard]] Json nodes_json(const std::vector<std::uint64_t>& nodes);

/// One rank's. What goes wrong is counted, and the first mistake kept; `what` names the messages for it.
class MessageEnds final {
 public:
  /// `key`: the same on all ranks, another for every repetition.
  MessageEnds(std::uint64_t key, int rank) : key_(key), rank_(rank) {}

  /// Makes every byte that will be sent one that names this rank (among 255). Before the first message.
  void fill(std::span<std::byte> out) const;
  /// First and last byte of the messages received last, which fill() of their senders made.
  void look(const mpi::MessageLoop& loop, std::string_view what);
  /// Sends and receives everything once more; each message's ends, up to 8 bytes either, then tell sender, receiver,
  /// key and `number`, which no two calls share. Collective as loop.run(1) is; afterwards all bytes are as fill() made
  /// them.
  void exchange_fresh(mpi::MessageLoop& loop, std::uint64_t number, std::string_view what);

  [[nodiscard]] const Verification& found() const noexcept { return found_; }

 private:
  [[nodiscard]] std::byte byte_of(int rank) const noexcept;
  [[nodiscard]] std::uint64_t signature(int from, int to, std::uint64_t number) const noexcept;
  void count(const mpi::MessageLoop::Received& message, std::uint64_t expected, std::uint64_t found, std::size_t bytes,
             std::string_view what);

  std::uint64_t key_;
  int rank_;
  Verification found_;
};

}  // namespace ullage
