// SPDX-License-Identifier: Apache-2.0
// One-way times between pairs of ranks or of nodes: all of them, or HPCC's sample.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "message/pair_timer.hpp"
#include "message/patterns/pair_schedule.hpp"
#include "message/ping_pong/pair_table.hpp"
#include "work/workload.hpp"

namespace ullage {

enum class PairChoice { all, sampled };
enum class PairEnds { ranks, nodes };

struct PingPongParameters : MessagePages {
  PairChoice pairs = PairChoice::all;
  PairEnds between = PairEnds::ranks;
  PairTraffic traffic = PairTraffic::ping_pong;
  bool at_once = false;
  std::uint64_t message_bytes = 8;
  std::uint64_t loops = 8;
  std::uint64_t measurements = 5;
  double budget_s = 10;
  std::uint64_t every = 1;
  bool keeps_table = false;

  [[nodiscard]] static Table<PingPongParameters> table();
  [[nodiscard]] PairJob job() const { return {traffic, message_bytes, loops, measurements, pages}; }
};

/// Checks what spans parameters and layout.
[[nodiscard]] Status check_ping_pong(const PingPongParameters& parameters, int ranks, const std::string& pointer);

/// An operation is a turn of the schedule, which all ends begin together. Gauges, the same on every rank:
/// least_one_way_s, mean_one_way_s, most_one_way_s (over the pairs), message_bytes, pairs. Facts: traffic, stride, and
/// of every stride-th end its name (`ends`) and host (`hosts`), and `one_way_s` (`[client, server, s]`, numbers of
/// ends). Of more than most_told_pairs these three are in a file instead (write_pair_table): `table` has its name,
/// beside the records, and the numbers of `ends` and `pairs` in it.
class PingPongPhase final : public PhaseWork {
 public:
  /// All pairs are measured where there are no more ends than this.
  static constexpr int most_ends = 1024;
  /// At most so many stand in a record, which has a few KB.
  static constexpr std::uint64_t most_told_pairs = 256;

  PingPongPhase(const PingPongParameters& parameters, const WorkloadContext& context);

  [[nodiscard]] PhaseInfo info() const override { return {.name = "pairs", .collective = true}; }
  [[nodiscard]] Status allocate() override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Gauges gauges() const override;
  void add_facts(nlohmann::json& facts) const override;

 private:
  [[nodiscard]] int choose_stride();
  void take(const PairTurn& turn);
  void reduce();
  [[nodiscard]] int ends_taking_part() const { return (end_count_ + stride_ - 1) / stride_; }
  [[nodiscard]] bool makes_table() const;
  [[nodiscard]] std::string table_path() const;
  [[nodiscard]] Status keep_table() const;
  void gather();
  void keep(const std::vector<PairTime>& answers);

  PingPongParameters parameters_;
  const mpi::World& world_;
  std::uint64_t key_;
  std::string tables_;
  mpi::Comm ends_ = mpi::Comm::self();  // from before() on; of ranks that are none, those that are none
  bool is_end_ = false;
  int end_count_ = 0;
  int stride_ = 1;
  std::unique_ptr<PairTimer> timer_;
  std::optional<PairSchedule> schedule_;
  std::vector<PairTime> answers_;
  double least_s_ = 0;
  double mean_s_ = 0;
  double most_s_ = 0;
  double pairs_ = 0;
  Json ends_told_ = Json::array();
  Json hosts_told_ = Json::array();
  Json matrix_told_ = Json::array();
};

}  // namespace ullage
