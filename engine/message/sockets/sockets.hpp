// SPDX-License-Identifier: Apache-2.0
// TCP, UDP and ICMP between the ranks of pairs, all pairs at once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/workers.hpp"
#include "message/sockets/rendezvous.hpp"
#include "message/sockets/stream_task.hpp"
#include "work/workload.hpp"

namespace ullage {

/// Streams last a warm-up and the seconds that are measured; what counts is what arrives in these. An operation is a
/// message: a block that arrived, or a request with its answer, whose latency is in the histogram. Gauges, of every
/// rank: pairs (1 on the lower rank of each), window_s, goodput_bytes_per_s, messages_per_s (of what it receives or
/// asks), cpu_cores (processor time of its process over the window), first_cpu_cores and second_cpu_cores (the same, of
/// the lower and the higher rank of a pair), jitter_s, smoothed_round_trip_s (the kernel's own, of tcp). Counters:
/// those of the tasks. Facts are of rank 0's pair.
class SocketsPhase final : public PhaseWork {
 public:
  SocketsPhase(const SocketsParameters& parameters, const WorkloadContext& context)
      : parameters_(parameters), context_(context) {}

  [[nodiscard]] PhaseInfo info() const override { return {.name = "sockets", .collective = true}; }
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override { return 1; }
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Counters counters() const override;
  [[nodiscard]] Gauges gauges() const override;
  void add_facts(nlohmann::json& facts) const override;

 private:
  using Tasks = std::vector<std::unique_ptr<StreamTask>>;

  [[nodiscard]] Status make_tasks();
  void make_streams();
  [[nodiscard]] std::unique_ptr<StreamTask> make_sender(std::size_t stream) const;
  [[nodiscard]] std::unique_ptr<StreamTask> make_receiver(std::size_t stream) const;
  [[nodiscard]] Status make_requests();
  void make_echo();
  [[nodiscard]] std::vector<std::byte> block_of(int rank, std::size_t stream) const;
  [[nodiscard]] bool asks() const { return parameters_.mode == SocketMode::request && pairing_.is_first; }

  /// A thread for each, which begins with execute().
  [[nodiscard]] Status make_threads(Workers& threads, const Tasks& tasks, const StageSign& stage);
  [[nodiscard]] Status run(Meter& meter);
  void sleep_until(std::int64_t time_ns, Meter& meter);
  /// Both have measured; then both have sent all; then nobody waits any more.
  [[nodiscard]] Status end(Meter& meter);
  [[nodiscard]] Status agree(char word);
  [[nodiscard]] std::int64_t patience_ends_ns() const;
  void count_latencies(Meter& meter) const;
  [[nodiscard]] Json totals_of(const Tasks& tasks) const;
  [[nodiscard]] Status compare(const Json& sent) const;

  SocketsParameters parameters_;
  WorkloadContext context_;
  Pairing pairing_;
  std::optional<Connections> connections_;
  std::string unavailable_;  // why nothing was measured
  Tasks active_;             // send of their own accord
  Tasks passive_;            // receive, answer
  std::unique_ptr<MeasuredWindow> window_;
  StageSign active_stage_;
  StageSign passive_stage_;
  Workers passive_threads_;  // last, with the next: they use the others
  Workers active_threads_;
};

}  // namespace ullage
