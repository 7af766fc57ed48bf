// SPDX-License-Identifier: Apache-2.0
// Workload `ring`: HPCC's naturally and randomly ordered rings.
#include "message/ring/ring.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <utility>

#include "base/clock.hpp"
#include "base/count.hpp"
#include "base/json.hpp"
#include "base/resources.hpp"
#include "message/patterns/ring_sizes.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

/// Alltoallv can carry one message a pair only, and HPCC has none.
constexpr std::array ring_methods{mpi::MessageMethod::sendrecv, mpi::MessageMethod::nonblocking};
constexpr std::uint64_t messages_a_loop = 2;
constexpr std::size_t most_listed_rings = 64;

/// A loop that takes as long can be told from none, HPCC's rule: ten ticks of the clock, or of 1 us where it is finer.
std::int64_t long_enough_ns() {
  timespec tick{};
  clock_getres(CLOCK_MONOTONIC, &tick);
  return 10 * std::max<std::int64_t>(1000, static_cast<std::int64_t>(tick.tv_sec) * 1'000'000'000 + tick.tv_nsec);
}

}  // namespace

Table<RingParameters> RingParameters::table() {
  using P = RingParameters;
  return joined<P>(
      Table<P>{
          choice("order", &P::order, {{RingOrder::natural, "natural"}, {RingOrder::random, "random"}},
                 "Choose the order: in natural order the neighbours of a rank have the next lower and higher numbers, "
                 "in random order any."),
          count("rings", &P::rings, {1, 10'000},
                "Measure this many rings of all ranks, one after the other. In natural order there is one."),
          bytes("message_bytes", &P::message_bytes, {1, 1U << 30U},
                "Set the bytes of each message. A rank has buffers for four of them."),
          count("loops", &P::loops, {1, 1'000'000'000},
                "Run this many loops in each measurement. In a loop each rank sends two messages."),
          count("measurements", &P::measurements, {1, 10'000},
                "Measure each ring this many times. The shortest time counts."),
          flag("grow", &P::grow, "Increase the loops by half each time until they take 10 us on every rank."),
          count("seed", &P::seed, {}, "Set the seed of the random orders."),
          choice("permutation", &P::permutation, random_order_words(),
                 "Choose uniform, where every order is equally likely, or slot-probe, as HPCC, where neighbours stay "
                 "neighbours too often."),
      },
      MessagePages::table());
}

Status check_rings(const RingParameters& p, int ranks, const std::string& pointer) {
  if (ranks < 2) return fail(bad_plan(pointer, "ring needs two ranks or more"));
  if (p.order == RingOrder::natural && p.rings != 1)
    return fail(bad_plan(pointer + "/rings", "must be 1 in natural order, where all rings are the same"));
  return {};
}

std::vector<double> ring_times(const std::vector<double>& times_s, std::size_t measurements) {
  std::vector<double> rings;
  for (auto from = times_s.begin(); from != times_s.end(); from += static_cast<std::ptrdiff_t>(measurements))
    rings.push_back(*std::min_element(from, from + static_cast<std::ptrdiff_t>(measurements)));
  return rings;
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

RingPhase::RingPhase(const RingParameters& parameters, const WorkloadContext& context)
    : parameters_(parameters),
      world_(*context.world),
      ends_(context.run_key, context.world->rank()),
      loops_(parameters.loops) {
  // Every rank has found room on its node before any of them takes it.
  const auto ranks_here = static_cast<std::uint64_t>(world_.topology().ranks_on_node);
  if (Status fits = check_room("message_bytes", 2 * buffer_bytes() * ranks_here); !fits)
    throw ResourceError(std::move(fits.error()));
}

Pattern RingPhase::ring(std::size_t index) const {
  std::vector<int> order;
  if (parameters_.order == RingOrder::random)
    order = random_order(parameters_.permutation, world_.size(), parameters_.seed, index);
  return one_ring("ring-" + std::to_string(index), world_.size(), std::move(order));
}

/// As in HPCC two messages lie beside each other and every loop sends the same ones.
std::size_t RingPhase::buffer_bytes() const {
  return messages_a_loop * round_up<std::size_t>(parameters_.message_bytes, sizeof(std::uint64_t));
}

Status RingPhase::allocate() {
  out_memory_ = MessageMemory(buffer_bytes(), parameters_.pages);
  in_memory_ = MessageMemory(buffer_bytes(), parameters_.pages);
  out_ = mpi::RotatingBuffer(out_memory_.bytes());
  in_ = mpi::RotatingBuffer(in_memory_.bytes());
  ends_.fill(out_memory_.bytes());
  for (std::size_t i = 0; i < parameters_.rings; ++i) steps_.push_back(steps_both_ways(ring(i), world_.rank()));
  times_s_.reserve(parameters_.rings * parameters_.measurements);
  return {};
}

Status RingPhase::before() {
  nodes_ = nodes_by_rank(world_);
  if (parameters_.grow) grow_loops();
  return {};
}

mpi::MessageLoop RingPhase::make_loop(std::size_t ring, mpi::MessageMethod method) {
  return {world_.all(), steps_[ring], method, parameters_.message_bytes, out_, in_};
}

std::string RingPhase::name_of(std::size_t ring, mpi::MessageMethod method) const {
  return "ring " + std::to_string(ring) + " by " + word_of(method);
}

void RingPhase::grow_loops() {
  const std::int64_t long_ns = long_enough_ns();
  for (;;) {
    bool is_long = true;
    for (const mpi::MessageMethod method : ring_methods) {
      mpi::MessageLoop loop = make_loop(0, method);
      is_long = timed_ns(loop, nullptr) >= long_ns && is_long;
    }
    if (world_.all().all(is_long)) return;
    loops_ += (loops_ + 1) / 2;
  }
}

std::int64_t RingPhase::timed_ns(mpi::MessageLoop& loop, Meter* meter) {
  world_.all().barrier();
  loop.run(1);
  const std::int64_t start = now_ns();
  if (meter != nullptr) meter->resume(start);
  loop.run(loops_);
  const std::int64_t stop = now_ns();
  // Nobody leaves a collective phase alone, so there is nothing to be told.
  if (meter != nullptr) (void)meter->completed(loops_ * messages_a_loop * parameters_.message_bytes);
  return stop - start;
}

std::uint64_t RingPhase::operations() const {
  return parameters_.rings * parameters_.measurements * ring_methods.size();
}

Status RingPhase::execute(Meter& meter) {
  for (std::size_t ring = 0; ring < parameters_.rings; ++ring)
    for (std::size_t i = 0; i < parameters_.measurements; ++i) {
      std::array<std::int64_t, ring_methods.size()> took_ns{};
      for (std::size_t m = 0; m < ring_methods.size(); ++m) {
        mpi::MessageLoop loop = make_loop(ring, ring_methods[m]);
        took_ns[m] = timed_ns(loop, &meter);
        ends_.look(loop, name_of(ring, ring_methods[m]));
      }
      times_s_.push_back(static_cast<double>(std::ranges::min(took_ns)) * 1e-9 /
                         static_cast<double>(messages_a_loop * loops_));
    }
  world_.all().max_all(times_s_);
  ring_s_ = ring_times(times_s_, parameters_.measurements);
  return {};
}

Verification RingPhase::after(std::uint64_t, Meter& progress) {
  for (std::size_t ring = 0; ring < parameters_.rings; ++ring)
    for (const mpi::MessageMethod method : ring_methods) {
      mpi::MessageLoop loop = make_loop(ring, method);
      ends_.exchange_fresh(loop, ring * message_methods.size() + static_cast<std::size_t>(method),
                           name_of(ring, method));
      progress.report_alive();
    }
  return ends_.found();
}

Gauges RingPhase::gauges() const {
  Gauges gauges{{"ring_s", geometric_mean(ring_s_)},
                {"loops", static_cast<double>(loops_)},
                {"message_bytes", static_cast<double>(parameters_.message_bytes)}};
  if (ring_s_.size() > most_listed_rings) return gauges;
  for (std::size_t ring = 0; ring < ring_s_.size(); ++ring)
    gauges["ring/" + std::to_string(ring) + "_s"] = ring_s_[ring];
  return gauges;
}

void RingPhase::add_facts(Json& facts) const {
  facts["seed"] = parameters_.seed;
  facts["pages"] = pages_json(parameters_.pages, out_memory_, in_memory_);
  if (world_.size() > most_listed_ranks || parameters_.rings > most_listed_rings) return;
  facts["nodes"] = nodes_json(nodes_);
  Json& orders = facts["orders"] = Json::array();
  for (std::size_t i = 0; i < parameters_.rings; ++i) {
    const Pattern one = ring(i);
    Json order = Json::array();
    for (int place = 0; place < world_.size(); ++place) order.push_back(rank_at(one, place));
    orders.push_back(std::move(order));
  }
}

namespace {

const Registered<WorkloadEntry> registered_ring{without_storage<RingParameters>({
    .name = "ring",
    .doc = "Sends messages in rings over all ranks, in natural or random order. Each rank exchanges messages with both "
           "neighbours.",
    .check = check_rings,
    .make = single_phase<RingPhase>,
})};

}  // namespace
}  // namespace ullage
