// SPDX-License-Identifier: Apache-2.0
// Ranks that fill the network until they are told to stop.
#pragma once

#include <chrono>
#include <thread>

#include "base/meter.hpp"
#include "base/std.hpp"
#include "mpi/collectives.hpp"
#include "mpi/mailbox.hpp"
#include "mpi/messages.hpp"

namespace ullage {

/// incast: all send to the first of them · alltoall: each to each.
enum class LoadKind { incast, alltoall };

/// Told over a mailbox of all ranks: the first disturbing rank answers `begun` once a round is done, and stops at
/// `stop`. Those that disturb or rest with it learn that from it.
enum CongestionLetter : int { congestion_begun = 1, congestion_stop = 2 };

/// Between two looks for a stop.
inline constexpr std::uint64_t loops_a_round = 8;
inline constexpr std::chrono::microseconds rest_nap{500};
inline constexpr int relay_fan_out = 4;

/// Messages of an incast that each sender has under way.
inline constexpr int messages_under_way = 4;

/// Returns how much one loop receives: in an incast one rank gets what all others send.
inline std::size_t room_for(LoadKind kind, int ranks, bool is_the_one, std::size_t message_bytes) {
  const int incast = is_the_one ? messages_under_way * (ranks - 1) : messages_under_way;
  return static_cast<std::size_t>(kind == LoadKind::incast ? incast : ranks) * (message_bytes + 8);
}

inline std::vector<mpi::MessageStep> incast_steps(int rank, int ranks) {
  std::vector<mpi::MessageStep> steps;
  for (int tag = 0; tag < messages_under_way; ++tag) {
    if (rank > 0) steps.push_back({0, mpi::MessageStep::nobody, tag});
    for (int from = 1; rank == 0 && from < ranks; ++from) steps.push_back({mpi::MessageStep::nobody, from, tag});
  }
  return steps;
}

inline bool gets_stop(mpi::Mailbox& mailbox) {
  const auto letter = mailbox.look();
  return letter && letter->kind == congestion_stop;
}

/// One disturbing rank. The rounds are the same on all of them.
class CongestionLoad final {
 public:
  /// `comm`: the disturbing ranks, 2 or more; `mailbox`: of all ranks; `relay`: of those of `comm`. All outlive it.
  CongestionLoad(const mpi::Comm& comm, mpi::Mailbox& mailbox, mpi::Mailbox& relay, LoadKind kind,
                 std::size_t message_bytes)
      : comm_(comm),
        mailbox_(mailbox),
        relay_(relay),
        rank_(comm.rank()),
        out_(room_for(kind, comm.size(), false, message_bytes)),
        in_(room_for(kind, comm.size(), rank_ == 0, message_bytes)),
        sends_(out_),
        receives_(in_) {
    const int ranks = comm.size();
    if (kind == LoadKind::alltoall) {
      exchange_ = std::make_unique<mpi::CollectiveCall>(
          comm, mpi::CollectiveShape{mpi::Collective::alltoall, message_bytes, mpi::Element::fp32}, out_, in_);
      bytes_a_loop_ = static_cast<std::uint64_t>(ranks - 1) * message_bytes;
      return;
    }
    messages_ = std::make_unique<mpi::MessageLoop>(comm, incast_steps(rank_, ranks), mpi::MessageMethod::nonblocking,
                                                   message_bytes, sends_, receives_);
    bytes_a_loop_ = messages_->sends() * message_bytes;
  }

  /// Collective over `comm`: rounds until the first of them has got a stop. `told`: whom that one tells that the first
  /// round is done.
  void run_until_stopped(int told, Meter& signs) {
    constexpr int decider = 0;
    bool was_told = false;
    for (bool goes_on = true; goes_on;) {
      round();
      if (rank_ == decider && !was_told) mailbox_.post(told, congestion_begun, {});
      was_told = true;
      const bool stops = rank_ == decider && gets_stop(mailbox_);
      goes_on = comm_.broadcast(static_cast<std::int64_t>(stops ? 0 : 1), decider) != 0;
      signs.report_alive();
    }
  }

  /// Collective over `comm`: waits until the first of them has got a stop, and leaves the core to others.
  /// The first rank is told, and the others by those above them in a tree: no rank sends to all.
  void rest_until_stopped(Meter& signs) {
    mpi::Mailbox& own = rank_ == 0 ? mailbox_ : relay_;
    while (!gets_stop(own)) {
      std::this_thread::sleep_for(rest_nap);
      signs.report_alive();
    }
    const int ranks = comm_.size();
    for (int child = relay_fan_out * rank_ + 1; child <= relay_fan_out * (rank_ + 1) && child < ranks; ++child)
      relay_.post(child, congestion_stop, {});
  }

  /// Bytes this rank has sent.
  [[nodiscard]] std::uint64_t sent_bytes() const noexcept { return sent_bytes_; }
  [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_; }

 private:
  void round() {
    if (exchange_)
      for (std::uint64_t i = 0; i < loops_a_round; ++i) exchange_->run(0);
    else
      messages_->run(loops_a_round);
    sent_bytes_ += loops_a_round * bytes_a_loop_;
    ++rounds_;
  }

  const mpi::Comm& comm_;
  mpi::Mailbox& mailbox_;
  mpi::Mailbox& relay_;
  int rank_;
  std::uint64_t bytes_a_loop_ = 0;
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t rounds_ = 0;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  mpi::RotatingBuffer sends_;
  mpi::RotatingBuffer receives_;
  std::unique_ptr<mpi::MessageLoop> messages_;
  std::unique_ptr<mpi::CollectiveCall> exchange_;
};

}  // namespace ullage
