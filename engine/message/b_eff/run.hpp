// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "message/message_ends.hpp"
#include "message/message_memory.hpp"
#include "message/patterns/b_eff_patterns.hpp"
#include "work/workload.hpp"

namespace ullage {

inline constexpr std::size_t b_eff_size_count = 21;
inline constexpr std::uint64_t b_eff_middle_bytes = 4096;  // up to here lengths double

/// 1 B, 2 B ... 4 KiB, then eight more up to `lmax_bytes` >= 4 KiB in equal ratios.
[[nodiscard]] std::array<std::uint64_t, b_eff_size_count> b_eff_sizes(std::uint64_t lmax_bytes);

/// Returns how many times the length before size `index` >= 1 that one is, before rounding.
[[nodiscard]] double b_eff_growth(std::uint64_t lmax_bytes, std::size_t index);

// How often b_eff repeats the messages of one length, so that all patterns together take about a given time.

/// Says how many loops one method makes with each size. Times are those of all patterns, as rank 0 measures them.
/// Source: b_eff 3.6.
class BEffLoops final {
 public:
  static constexpr std::uint64_t probe_loops = 10;

  explicit BEffLoops(double budget_s) : budget_s_(budget_s) {}

  /// The first length took that long, `probe_loops` times: half of what the budget allows from then on. As in the
  /// original that time stays part of what the first length took.
  void probed(double took_s);
  /// The current length took that long, loops() times.
  void took(double took_s) { took_s_ += took_s; }
  /// On to a length `growth` times the current one: fewer loops in proportion, but more where the budget was not used
  /// up, and never more than the probe found it to allow.
  void lengthen(double growth);

  [[nodiscard]] std::uint64_t loops() const noexcept { return loops_; }
  [[nodiscard]] double iteration_s() const noexcept { return took_s_ / static_cast<double>(loops_); }

 private:
  double budget_s_;
  double most_loops_ = 0;
  double took_s_ = 0;
  std::uint64_t loops_ = probe_loops;
};

/// Returns whether the last two of b_eff's lengths would take too long by all methods, judged by the length before
/// them: above 60 s at the original's budget of 0.5 s, and in proportion to it.
[[nodiscard]] bool last_two_take_too_long(std::span<const BEffLoops> methods, double growth, double budget_s);

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
