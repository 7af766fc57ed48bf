// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

#include "base/clock.hpp"
#include "base/count.hpp"
#include "base/json.hpp"
#include "base/std.hpp"
#include "message/message_ends.hpp"
#include "message/message_memory.hpp"
#include "message/patterns/pattern.hpp"
#include "message/patterns/rank_order.hpp"
#include "message/patterns/ring_sizes.hpp"
#include "work/entry.hpp"
#include "work/workload.hpp"

namespace ullage {

enum class RingOrder { natural, random };

struct RingParameters : MessagePages {
  RingOrder order = RingOrder::natural;
  std::size_t rings = 1;
  std::uint64_t message_bytes = 8;
  std::uint64_t loops = 8;
  std::size_t measurements = 5;
  bool grow = true;
  std::uint64_t seed = 1;
  RandomOrder permutation = RandomOrder::uniform;

  [[nodiscard]] static Table<RingParameters> table();
};

/// HPCC's time of a ring: `times_s` has the measurements of each ring one after the other, each that of the slowest
/// rank; of every ring counts the fastest measurement.
[[nodiscard]] std::vector<double> ring_times(const std::vector<double>& times_s, std::size_t measurements);

/// > 0 each.
[[nodiscard]] double geometric_mean(const std::vector<double>& values);

/// Alltoallv can carry one message a pair only, and HPCC has none.
inline constexpr std::array ring_methods{mpi::MessageMethod::sendrecv, mpi::MessageMethod::nonblocking};
inline constexpr std::uint64_t messages_a_loop = 2;
inline constexpr std::size_t most_listed_rings = 64;

/// A loop that takes as long can be told from none, HPCC's rule: ten ticks of the clock, or of 1 us where it is finer.
inline std::int64_t long_enough_ns() {
  timespec tick{};
  clock_getres(CLOCK_MONOTONIC, &tick);
  return 10 * std::max<std::int64_t>(1000, static_cast<std::int64_t>(tick.tv_sec) * 1'000'000'000 + tick.tv_nsec);
}

/// HPCC's rings: each rank sends to both neighbours, two messages a loop even where those are the same, by sendrecv and
/// by nonblocking calls, of which each rank takes the faster one's time. Gauges, the same on all ranks: ring_s (of one
/// message: half a loop; geometric mean over the rings), ring/K_s (of up to 64 rings), loops (as many as it takes for
/// the clock to tell), message_bytes. An operation is all loops by one method.
class RingPhase final : public PhaseWork {
 public:
  RingPhase(const RingParameters& parameters, const WorkloadContext& context)
      : parameters_(parameters),
        world_(*context.world),
        ends_(context.run_key, context.world->rank()),
        loops_(parameters.loops) {
    find_room_on_node(world_, 2 * buffer_bytes());
  }

  [[nodiscard]] PhaseInfo info() const override { return {.name = "ring", .collective = true}; }

  [[nodiscard]] Status allocate() override {
    out_memory_ = MessageMemory(buffer_bytes(), parameters_.pages);
    in_memory_ = MessageMemory(buffer_bytes(), parameters_.pages);
    out_ = mpi::RotatingBuffer(out_memory_.bytes());
    in_ = mpi::RotatingBuffer(in_memory_.bytes());
    ends_.fill(out_memory_.bytes());
    for (std::size_t i = 0; i < parameters_.rings; ++i) steps_.push_back(steps_both_ways(ring(i), world_.rank()));
    times_s_.reserve(parameters_.rings * parameters_.measurements);
    return {};
  }

  [[nodiscard]] Status before() override {
    nodes_ = nodes_by_rank(world_);
    if (parameters_.grow) grow_loops();
    return {};
  }

  [[nodiscard]] std::uint64_t operations() const override {
    return parameters_.rings * parameters_.measurements * ring_methods.size();
  }

  [[nodiscard]] Status execute(Meter& meter) override {
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

  [[nodiscard]] Verification after(std::uint64_t, Meter& progress) override {
    for (std::size_t ring = 0; ring < parameters_.rings; ++ring)
      for (const mpi::MessageMethod method : ring_methods) {
        mpi::MessageLoop loop = make_loop(ring, method);
        ends_.exchange_fresh(loop, ring * message_methods.size() + static_cast<std::size_t>(method),
                             name_of(ring, method));
        progress.report_alive();
      }
    return ends_.found();
  }

  [[nodiscard]] Gauges gauges() const override {
    Gauges gauges{{"ring_s", geometric_mean(ring_s_)},
                  {"loops", static_cast<double>(loops_)},
                  {"message_bytes", static_cast<double>(parameters_.message_bytes)}};
    if (ring_s_.size() > most_listed_rings) return gauges;
    for (std::size_t ring = 0; ring < ring_s_.size(); ++ring)
      gauges["ring/" + std::to_string(ring) + "_s"] = ring_s_[ring];
    return gauges;
  }

  void add_facts(Json& facts) const override {
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

 private:
  /// As in HPCC two messages lie beside each other and every loop sends the same ones.
  [[nodiscard]] std::size_t buffer_bytes() const {
    return messages_a_loop * round_up<std::size_t>(parameters_.message_bytes, sizeof(std::uint64_t));
  }

  [[nodiscard]] Pattern ring(std::size_t index) const {
    std::vector<int> order;
    if (parameters_.order == RingOrder::random)
      order = random_order(parameters_.permutation, world_.size(), parameters_.seed, index);
    return one_ring("ring-" + std::to_string(index), world_.size(), std::move(order));
  }

  [[nodiscard]] mpi::MessageLoop make_loop(std::size_t ring, mpi::MessageMethod method) {
    return {world_.all(), steps_[ring], method, parameters_.message_bytes, out_, in_};
  }

  [[nodiscard]] std::string name_of(std::size_t ring, mpi::MessageMethod method) const {
    return "ring " + std::to_string(ring) + " by " + word_of(method);
  }

  [[nodiscard]] std::int64_t timed_ns(mpi::MessageLoop& loop, Meter* meter) {
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

  void grow_loops() {
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

  RingParameters parameters_;
  const mpi::World& world_;
  MessageEnds ends_;
  std::vector<std::vector<mpi::MessageStep>> steps_;  // of this rank, by ring
  std::vector<std::uint64_t> nodes_;
  std::uint64_t loops_;
  std::vector<double> times_s_;  // all measurements
  std::vector<double> ring_s_;
  MessageMemory out_memory_;
  MessageMemory in_memory_;
  mpi::RotatingBuffer out_{{}};
  mpi::RotatingBuffer in_{{}};
};

}  // namespace ullage
