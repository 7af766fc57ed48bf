// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "message/message_ends.hpp"
#include "message/message_memory.hpp"
#include "message/patterns/pattern.hpp"
#include "message/patterns/rank_order.hpp"
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

[[nodiscard]] Status check_rings(const RingParameters& parameters, int ranks, const std::string& pointer);

/// HPCC's time of a ring: `times_s` has the measurements of each ring one after the other, each that of the slowest
/// rank; of every ring counts the fastest measurement.
[[nodiscard]] std::vector<double> ring_times(const std::vector<double>& times_s, std::size_t measurements);

/// > 0 each.
[[nodiscard]] double geometric_mean(const std::vector<double>& values);

/// HPCC's rings: each rank sends to both neighbours, two messages a loop even where those are the same, by sendrecv and
/// by nonblocking calls, of which each rank takes the faster one's time. Gauges, the same on all ranks: ring_s (of one
/// message: half a loop; geometric mean over the rings), ring/K_s (of up to 64 rings), loops (as many as it takes for
/// the clock to tell), message_bytes. An operation is all loops by one method.
class RingPhase final : public PhaseWork {
 public:
  RingPhase(const RingParameters& parameters, const WorkloadContext& context);

  [[nodiscard]] PhaseInfo info() const override { return {.name = "ring", .collective = true}; }
  [[nodiscard]] Status allocate() override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Gauges gauges() const override;
  void add_facts(nlohmann::json& facts) const override;

 private:
  [[nodiscard]] std::size_t buffer_bytes() const;
  [[nodiscard]] Pattern ring(std::size_t index) const;
  [[nodiscard]] mpi::MessageLoop make_loop(std::size_t ring, mpi::MessageMethod method);
  [[nodiscard]] std::string name_of(std::size_t ring, mpi::MessageMethod method) const;
  [[nodiscard]] std::int64_t timed_ns(mpi::MessageLoop& loop, Meter* meter);
  void grow_loops();

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
