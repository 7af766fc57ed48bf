// SPDX-License-Identifier: Apache-2.0
// Whether messages arrive: by their ends, which costs little beside sending them, however long they are. And what
// records say of the ranks and methods of such messages.
#pragma once

#include <cstring>

#include "base/hex.hpp"
#include "base/json.hpp"
#include "base/parameters.hpp"
#include "base/permutation.hpp"
#include "base/std.hpp"
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
[[nodiscard]] inline std::vector<std::uint64_t> nodes_by_rank(const mpi::World& world) {
  const mpi::Topology& here = world.topology();
  if (here.ranks > most_listed_ranks) return {};
  std::vector<std::uint64_t> nodes(static_cast<std::size_t>(here.ranks), 0);
  nodes[static_cast<std::size_t>(here.rank)] = static_cast<std::uint64_t>(here.node);
  world.all().sum_all(nodes);
  return nodes;
}

/// Returns the same as facts have it: an object, ranks are the keys.
[[nodiscard]] inline Json nodes_json(const std::vector<std::uint64_t>& nodes) {
  Json json = Json::object();
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) json[std::to_string(rank)] = nodes[rank];
  return json;
}

/// The first and the last bytes of a message, which do not overlap.
struct Ends {
  std::size_t first;
  std::size_t last;
  explicit Ends(std::size_t length)
      : first(std::min(sizeof(std::uint64_t), (length + 1) / 2)), last(std::min(sizeof(std::uint64_t), length / 2)) {}
};

inline void write_ends(std::span<std::byte> message, std::uint64_t at_first, std::uint64_t at_last) {
  const Ends ends(message.size());
  std::memcpy(message.data(), &at_first, ends.first);
  std::memcpy(message.last(ends.last).data(), &at_last, ends.last);
}

/// Returns what is left of a word in so many bytes, so that it compares with those read.
inline std::uint64_t cut(std::uint64_t word, std::size_t bytes) {
  std::uint64_t left = 0;
  std::memcpy(&left, &word, bytes);
  return left;
}

inline std::uint64_t read_end(std::span<const std::byte> bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data(), bytes.size());
  return word;
}

inline constexpr std::uint64_t every_byte = 0x0101010101010101ULL;

/// One rank's. What goes wrong is counted, and the first mistake kept; `what` names the messages for it.
class MessageEnds final {
 public:
  /// `key`: the same on all ranks, another for every repetition.
  MessageEnds(std::uint64_t key, int rank) : key_(key), rank_(rank) {}

  /// Makes every byte that will be sent one that names this rank (among 255). Before the first message.
  void fill(std::span<std::byte> out) const { std::ranges::fill(out, byte_of(rank_)); }

  /// First and last byte of the messages received last, which fill() of their senders made.
  void look(const mpi::MessageLoop& loop, std::string_view what) {
    for (const auto& message : loop.last_received()) {
      const auto expected = static_cast<std::uint64_t>(byte_of(message.from));
      for (const std::byte found : {message.data.front(), message.data.back()})
        count(message, expected, static_cast<std::uint64_t>(found), 1, what);
    }
  }

  /// Sends and receives everything once more; each message's ends, up to 8 bytes either, then tell sender, receiver,
  /// key and `number`, which no two calls share. Collective as loop.run(1) is; afterwards all bytes are as fill() made
  /// them.
  void exchange_fresh(mpi::MessageLoop& loop, std::uint64_t number, std::string_view what) {
    const std::size_t length = loop.message_bytes();
    mpi::RotatingBuffer out = loop.out();
    mpi::RotatingBuffer in = loop.in();
    for (const mpi::MessageStep& step : loop.steps()) {
      const std::uint64_t sent = signature(rank_, step.to, number);
      const std::uint64_t expected = signature(step.from, rank_, number);
      if (step.to != mpi::MessageStep::nobody) write_ends({out.next(length), length}, sent, mix64(sent));
      // Wrong in every byte, until the message comes.
      if (step.from != mpi::MessageStep::nobody) write_ends({in.next(length), length}, ~expected, ~mix64(expected));
    }
    loop.run(1);
    const Ends ends(length);
    for (const auto& message : loop.last_received()) {
      const std::uint64_t expected = signature(message.from, rank_, number);
      count(message, cut(expected, ends.first), read_end(message.data.first(ends.first)), ends.first, what);
      if (ends.last > 0)
        count(message, cut(mix64(expected), ends.last), read_end(message.data.last(ends.last)), ends.last, what);
    }
    const std::uint64_t own = every_byte * static_cast<std::uint64_t>(byte_of(rank_));
    for (const auto& message : loop.last_sent()) write_ends(message, own, own);
  }

  [[nodiscard]] const Verification& found() const noexcept { return found_; }

 private:
  [[nodiscard]] std::byte byte_of(int rank) const noexcept {
    return static_cast<std::byte>(1 + (key_ % 255 + static_cast<std::uint64_t>(rank)) % 255);
  }

  [[nodiscard]] std::uint64_t signature(int from, int to, std::uint64_t number) const noexcept {
    const auto pair = (static_cast<std::uint64_t>(from) << 32) | static_cast<std::uint64_t>(to);
    return mix64(key_ ^ mix64(number ^ mix64(pair)));
  }

  void count(const mpi::MessageLoop::Received& message, std::uint64_t expected, std::uint64_t found, std::size_t bytes,
             std::string_view what) {
    found_.verified_bytes += bytes;
    if (expected == found) return;
    ++found_.bad_blocks;
    if (found_.first) return;
    const std::string where = std::string(what) + ", " + std::to_string(message.data.size()) + " bytes from rank " +
                              std::to_string(message.from) + " to rank " + std::to_string(rank_);
    const std::string right = hex_of(expected, bytes);
    const std::string wrong = hex_of(found, bytes);
    found_.first = verification_error("receive", where, "an end of the message is " + wrong + ", should be " + right,
                                      right, wrong);
  }

  std::uint64_t key_;
  int rank_;
  Verification found_;
};

}  // namespace ullage
