// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "message/b_eff/loops.hpp"
#include "message/b_eff/sizes.hpp"
#include "message/message_ends.hpp"
#include "message/message_memory.hpp"
#include "message/message_methods.hpp"
#include "message/patterns/b_eff_patterns.hpp"
#include "work/workload.hpp"

namespace ullage {

struct BEffParameters : MessagePages {
  std::uint64_t lmax_bytes = std::uint64_t{1} << 20;
  double budget_s = 0.5;
  std::size_t random_rings = 30;
  std::uint64_t seed = 1;
  RandomOrder permutation = RandomOrder::uniform;
  bool additional = true;
  bool short_last_two = true;
  bool timed_check = false;

  [[nodiscard]] static Table<BEffParameters> table();
  [[nodiscard]] BEffPatterns patterns(int ranks) const;
};

/// One pattern by one method.
struct BEffExperiment {
  std::size_t pattern = 0;
  mpi::MessageMethod method = mpi::MessageMethod::sendrecv;
};

/// One rank's part in a repetition, as its phases share it: what it has to send in each pattern, how often, and the
/// buffers. Loops are rank 0's choice, which all ranks follow.
class BEffRun final {
 public:
  BEffRun(const BEffParameters& parameters, const WorkloadContext& context);

  /// Collective.
  void find_peers();
  /// An error where the node has no room for the buffers.
  [[nodiscard]] Status look_for_room() const;
  void make_messages();
  /// Collective, in order of the sizes: settles the loops from what the size before took.
  void begin_size(std::size_t size);
  /// Collective, after the probe of the first size.
  void settle_loops();

  /// Returns what is measured with the current size, in order.
  [[nodiscard]] std::vector<BEffExperiment> experiments() const;
  /// Collective: how long this rank took for so many loops of the current size, in seconds; 0 when it only waits. Two
  /// calls of the meter's clock surround them, an operation. `ends` looks at what came last.
  [[nodiscard]] double measure(const BEffExperiment& experiment, std::uint64_t loops, Meter& meter, MessageEnds& ends);
  /// Collective: once more, untimed, with messages that were never sent before.
  void check(const BEffExperiment& experiment, MessageEnds& ends);
  /// All patterns together took this rank that long by one method for the probe.
  void probed(mpi::MessageMethod method, double took_s) { control(method).probed(took_s); }
  void took(const BEffExperiment& experiment, double took_s);

  [[nodiscard]] const BEffParameters& parameters() const { return parameters_; }
  [[nodiscard]] const std::array<std::uint64_t, b_eff_size_count>& sizes() const { return sizes_; }
  [[nodiscard]] std::uint64_t loops(mpi::MessageMethod method) const {
    return loops_[static_cast<std::size_t>(method)];
  }
  [[nodiscard]] std::size_t patterns() const { return patterns_.size(); }
  [[nodiscard]] const std::string& name(std::size_t pattern) const { return patterns_[pattern].name; }
  [[nodiscard]] std::uint64_t sends(std::size_t pattern) const { return sends_of(patterns_[pattern].steps); }
  /// The last two sizes have only the fastest method of each pattern, once.
  [[nodiscard]] bool is_short() const { return is_short_; }
  [[nodiscard]] MessageEnds make_ends() const { return {context_.run_key, context_.world->rank()}; }
  /// See nodes_by_rank().
  [[nodiscard]] const std::vector<std::uint64_t>& nodes() const { return nodes_; }
  /// The fact `pages`.
  [[nodiscard]] nlohmann::json pages() const { return pages_json(parameters_.pages, out_memory_, in_memory_); }
  [[nodiscard]] int ranks() const { return context_.world->size(); }

 private:
  struct Messages {
    std::string name;
    std::vector<mpi::MessageStep> steps;  // this rank's
    bool has_one_method = false;
  };

  [[nodiscard]] std::uint64_t buffer_bytes() const;
  [[nodiscard]] BEffLoops& control(mpi::MessageMethod method) { return controls_[static_cast<std::size_t>(method)]; }
  [[nodiscard]] std::size_t place_of(const BEffExperiment& experiment) const {
    return experiment.pattern * message_methods.size() + static_cast<std::size_t>(experiment.method);
  }
  [[nodiscard]] mpi::MessageLoop make_loop(const BEffExperiment& experiment);
  [[nodiscard]] std::string name_of(const BEffExperiment& experiment) const;
  void shorten();
  void choose_best();

  BEffParameters parameters_;
  WorkloadContext context_;
  std::array<std::uint64_t, b_eff_size_count> sizes_;
  std::vector<Messages> patterns_;
  std::array<BEffLoops, message_methods.size()> controls_;
  std::array<std::uint64_t, message_methods.size()> loops_{};
  std::vector<double> times_s_;  // this rank's of the current size, by place_of()
  bool is_short_ = false;
  std::vector<mpi::MessageMethod> best_;  // by pattern, when it is
  std::shared_ptr<mpi::MessageLoop::Calls> loop_room_;
  std::vector<std::uint64_t> nodes_;
  std::size_t size_ = 0;
  MessageMemory out_memory_;
  MessageMemory in_memory_;
  mpi::RotatingBuffer out_{{}};
  mpi::RotatingBuffer in_{{}};
};

}  // namespace ullage
