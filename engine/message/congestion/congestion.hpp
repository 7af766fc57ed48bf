// SPDX-License-Identifier: Apache-2.0
// What ranks that fill the network do to the messages of others: the same test alone and beside them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "message/congestion/load.hpp"
#include "message/congestion/work.hpp"
#include "mpi/mailbox.hpp"
#include "work/workload.hpp"

namespace ullage {

struct CongestionParameters {
  LoadKind load = LoadKind::incast;
  std::uint64_t load_bytes = 4096;
  double victim_share = 0.2;
  std::uint64_t seed = 1;
  std::uint64_t rings = 30;
  double test_s = 0.2;
  std::uint64_t message_bytes = 8;
  std::uint64_t bulk_bytes = 131072;
  std::uint64_t outstanding = 8;

  [[nodiscard]] static Table<CongestionParameters> table();
};

[[nodiscard]] Status check_congestion(const CongestionParameters& parameters, int ranks, const std::string& pointer);

enum class CongestionTest { latency, bandwidth, allreduce };

/// Knows who is who; what all phases of a repetition share. Collective to make and to end.
struct CongestionSetup {
  CongestionSetup(const mpi::World& world, std::vector<int> chosen);
  std::vector<int> victims;  // rising
  bool is_victim;
  mpi::Comm mine;  // the victims, or the others
  mpi::Mailbox mailbox;
  mpi::Mailbox relay;  // among `mine`
  int first_other;
};

/// One test, isolated or congested. The victims run it in `rings` random orders, as often in each; every run is one
/// operation of the meter, on the victims only. The others rest, or load the network from before the victims' first run
/// until after their last. A congested test that takes most_stretch times as long as it should ends early, after a
/// whole ring. Gauges, the same on all ranks but for load_s: victims, load_ranks, rings (done), runs_a_ring,
/// operation_bytes (sent by a victim in one run), load_s (this rank's, under load). Counters: load_bytes.
class CongestionPhase final : public PhaseWork {
 public:
  CongestionPhase(const CongestionParameters& parameters, const WorkloadContext& context, CongestionSetup& setup,
                  CongestionTest test, bool is_congested);

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status allocate() override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Counters counters() const override;
  [[nodiscard]] Gauges gauges() const override;
  void add_facts(nlohmann::json& facts) const override;

 private:
  void make_work();
  void calibrate();
  void measure(Meter& meter);
  void run_ring(std::uint64_t ring, Meter& meter);
  void await_load(Meter& meter);
  void end_load();

  CongestionParameters parameters_;
  const mpi::World& world_;
  CongestionSetup& setup_;
  CongestionTest test_;
  bool is_congested_;
  std::uint64_t key_;
  std::unique_ptr<CongestionWork> work_;
  std::unique_ptr<CongestionLoad> load_;
  std::uint64_t operation_bytes_ = 0;
  std::uint64_t runs_ = 1;
  std::uint64_t rings_done_ = 0;
  std::uint64_t wrong_rings_ = 0;
  double load_s_ = 0;
};

}  // namespace ullage
