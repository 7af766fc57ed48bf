// SPDX-License-Identifier: Apache-2.0
#include "message/pair_timer.hpp"

#include "base/clock.hpp"

namespace ullage {
namespace {

constexpr int nobody_else = mpi::MessageStep::nobody;
constexpr std::size_t short_message_bytes = 8;
/// Before a measurement of one way: what a link lets pass in a burst is used up, and its windows have grown.
constexpr std::uint64_t warm_up_part = 4;

std::size_t messages_at_once(const PairJob& job) {
  return job.traffic == PairTraffic::one_way ? static_cast<std::size_t>(job.loops) : 1;
}

/// Stands in the steps until they are turned to a rank.
constexpr int any_other = 0;

std::vector<mpi::MessageStep> one_way_steps(bool asks, std::uint64_t messages) {
  const mpi::MessageStep step =
      asks ? mpi::MessageStep{any_other, nobody_else} : mpi::MessageStep{nobody_else, any_other};
  return {static_cast<std::size_t>(messages), step};
}

std::vector<mpi::MessageStep> ping_pong_steps(bool asks) {
  const mpi::MessageStep out{any_other, nobody_else};
  const mpi::MessageStep in{nobody_else, any_other};
  return asks ? std::vector{out, in} : std::vector{in, out};
}

}  // namespace

struct PairTimer::Loops {
  Loops(PairTimer& timer, bool asks)
      : warm_up(timer.loop(timer.steps(asks, std::max<std::uint64_t>(1, timer.job_.loops / warm_up_part)))),
        timed(timer.loop(timer.steps(asks, timer.job_.loops))),
        arrived(timer.comm_, one_way_steps(!asks, 1), mpi::MessageMethod::sendrecv, short_message_bytes,
                timer.short_ones_.out(), timer.short_ones_.in()) {}

  mpi::MessageLoop warm_up;
  mpi::MessageLoop timed;
  mpi::MessageLoop arrived;  // the short message back; of a ping-pong unused

  Loops& turned_to(int other) noexcept {
    for (mpi::MessageLoop* loop : {&warm_up, &timed, &arrived}) loop->turn_to(other);
    return *this;
  }
};

PairTimer::PairTimer(const mpi::Comm& comm, int rank, const PairJob& job, std::uint64_t key)
    : comm_(comm),
      job_(job),
      contents_(key, job.message_bytes),
      buffers_(job.message_bytes, messages_at_once(job), messages_at_once(job), job.pages),
      short_ones_(short_message_bytes, 1, 1, job.pages),
      asking_(std::make_unique<Loops>(*this, true)),
      answering_(std::make_unique<Loops>(*this, false)) {
  contents_.fill(buffers_.out().bytes(), rank);
}

PairTimer::~PairTimer() = default;

mpi::MessageLoop PairTimer::loop(std::vector<mpi::MessageStep> steps) {
  const auto method =
      job_.traffic == PairTraffic::one_way ? mpi::MessageMethod::nonblocking : mpi::MessageMethod::sendrecv;
  return {comm_, std::move(steps), method, job_.message_bytes, buffers_.out(), buffers_.in()};
}

std::vector<mpi::MessageStep> PairTimer::steps(bool asks, std::uint64_t messages) const {
  return job_.traffic == PairTraffic::one_way ? one_way_steps(asks, messages) : ping_pong_steps(asks);
}

void PairTimer::begin(Loops& loops) {
  contents_.poison(buffers_.in().bytes());
  loops.warm_up.run(1);
  if (job_.traffic == PairTraffic::one_way) loops.arrived.run(1);
}

void PairTimer::run(Loops& loops) const {
  if (job_.traffic == PairTraffic::ping_pong) return loops.timed.run(job_.loops);
  loops.timed.run(1);
  loops.arrived.run(1);
}

void PairTimer::end(const Loops& loops) {
  const std::uint64_t iterations = job_.traffic == PairTraffic::ping_pong ? job_.loops : 1;
  sent_bytes_ += iterations * loops.timed.sends() * job_.message_bytes;
  contents_.check_received(loops.timed, found_);
}

double PairTimer::ask(int server) {
  Loops& loops = asking_->turned_to(server);
  std::int64_t shortest_ns = std::numeric_limits<std::int64_t>::max();
  for (std::uint64_t i = 0; i < job_.measurements; ++i) {
    begin(loops);
    const std::int64_t start = now_ns();
    run(loops);
    shortest_ns = std::min(shortest_ns, now_ns() - start);
    end(loops);
  }
  const double ways = job_.traffic == PairTraffic::ping_pong ? 2 : 1;
  return static_cast<double>(shortest_ns) * 1e-9 / (ways * static_cast<double>(job_.loops));
}

void PairTimer::answer(int client) {
  Loops& loops = answering_->turned_to(client);
  for (std::uint64_t i = 0; i < job_.measurements; ++i) {
    begin(loops);
    run(loops);
    end(loops);
  }
}

}  // namespace ullage
