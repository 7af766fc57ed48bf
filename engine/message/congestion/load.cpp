// SPDX-License-Identifier: Apache-2.0
#include "message/congestion/load.hpp"

#include <chrono>
#include <thread>

namespace ullage {
namespace {

/// Between two looks for a stop.
constexpr std::uint64_t loops_a_round = 8;
/// Messages of an incast that each sender has under way.
constexpr int messages_under_way = 4;
constexpr std::chrono::microseconds rest_nap{500};
constexpr int relay_fan_out = 4;

/// Returns how much one loop receives: in an incast one rank gets what all others send.
std::size_t room_for(LoadKind kind, int ranks, bool is_the_one, std::size_t message_bytes) {
  const int incast = is_the_one ? messages_under_way * (ranks - 1) : messages_under_way;
  return static_cast<std::size_t>(kind == LoadKind::incast ? incast : ranks) * (message_bytes + 8);
}

std::vector<mpi::MessageStep> incast_steps(int rank, int ranks) {
  std::vector<mpi::MessageStep> steps;
  for (int tag = 0; tag < messages_under_way; ++tag) {
    if (rank > 0) steps.push_back({0, mpi::MessageStep::nobody, tag});
    for (int from = 1; rank == 0 && from < ranks; ++from) steps.push_back({mpi::MessageStep::nobody, from, tag});
  }
  return steps;
}

bool gets_stop(mpi::Mailbox& mailbox) {
  const auto letter = mailbox.look();
  return letter && letter->kind == congestion_stop;
}

}  // namespace

CongestionLoad::CongestionLoad(const mpi::Comm& comm, mpi::Mailbox& mailbox, mpi::Mailbox& relay, LoadKind kind,
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

void CongestionLoad::run_until_stopped(int told, Meter& signs) {
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

/// The first rank is told, and the others by those above them in a tree: no rank sends to all.
void CongestionLoad::rest_until_stopped(Meter& signs) {
  mpi::Mailbox& own = rank_ == 0 ? mailbox_ : relay_;
  while (!gets_stop(own)) {
    std::this_thread::sleep_for(rest_nap);
    signs.report_alive();
  }
  const int ranks = comm_.size();
  for (int child = relay_fan_out * rank_ + 1; child <= relay_fan_out * (rank_ + 1) && child < ranks; ++child)
    relay_.post(child, congestion_stop, {});
}

void CongestionLoad::round() {
  if (exchange_)
    for (std::uint64_t i = 0; i < loops_a_round; ++i) exchange_->run(0);
  else
    messages_->run(loops_a_round);
  sent_bytes_ += loops_a_round * bytes_a_loop_;
  ++rounds_;
}

}  // namespace ullage
