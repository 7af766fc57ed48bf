// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/count.hpp"
#include "base/resources.hpp"
#include "base/std.hpp"
#include "message/message_ends.hpp"
#include "message/message_memory.hpp"
#include "message/patterns/b_eff_patterns.hpp"
#include "work/workload.hpp"

namespace ullage {

inline constexpr std::size_t b_eff_size_count = 21;
inline constexpr std::uint64_t b_eff_middle_bytes = 4096;  // up to here lengths double

inline constexpr std::size_t last_doubled = 12;
inline constexpr std::size_t steps_above = b_eff_size_count - 1 - last_doubled;

inline double times_middle(std::uint64_t lmax_bytes, std::size_t steps) {
  const double all = static_cast<double>(lmax_bytes) / static_cast<double>(b_eff_middle_bytes);
  return std::pow(all, static_cast<double>(steps) / static_cast<double>(steps_above));
}

/// 1 B, 2 B ... 4 KiB, then eight more up to `lmax_bytes` >= 4 KiB in equal ratios.
[[nodiscard]] inline std::array<std::uint64_t, b_eff_size_count> b_eff_sizes(std::uint64_t lmax_bytes) {
  std::array<std::uint64_t, b_eff_size_count> sizes{};
  for (std::size_t i = 0; i <= last_doubled; ++i) sizes[i] = std::uint64_t{1} << i;
  for (std::size_t k = 1; k <= steps_above; ++k)
    sizes[last_doubled + k] =
        static_cast<std::uint64_t>(std::llround(static_cast<double>(b_eff_middle_bytes) * times_middle(lmax_bytes, k)));
  return sizes;
}

/// Returns how many times the length before size `index` >= 1 that one is, before rounding.
[[nodiscard]] inline double b_eff_growth(std::uint64_t lmax_bytes, std::size_t index) {
  return index <= last_doubled ? 2 : times_middle(lmax_bytes, 1);
}

// How often b_eff repeats the messages of one length, so that all patterns together take about a given time.

inline constexpr double shortest_probe_s = 1e-9;

/// Says how many loops one method makes with each size. Times are those of all patterns, as rank 0 measures them.
/// Source: b_eff 3.6.
class BEffLoops final {
 public:
  static constexpr std::uint64_t probe_loops = 10;

  explicit BEffLoops(double budget_s) : budget_s_(budget_s) {}

  /// The first length took that long, `probe_loops` times: half of what the budget allows from then on. As in the
  /// original that time stays part of what the first length took.
  void probed(double took_s) {
    const double allowed = static_cast<double>(probe_loops) * budget_s_ / std::max(took_s, shortest_probe_s);
    most_loops_ = std::floor(std::max(allowed, static_cast<double>(probe_loops)));
    loops_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(most_loops_ / 2));
    took_s_ = took_s;
  }

  /// The current length took that long, loops() times.
  void took(double took_s) { took_s_ += took_s; }

  /// On to a length `growth` times the current one: fewer loops in proportion, but more where the budget was not used
  /// up, and never more than the probe found it to allow.
  void lengthen(double growth) {
    const double more = std::max(1.0, budget_s_ / std::max(took_s_, shortest_probe_s));
    const double wanted = static_cast<double>(loops_) / growth * more;
    loops_ = static_cast<std::uint64_t>(std::max(1.0, std::min(wanted, most_loops_)));
    took_s_ = 0;
  }

  [[nodiscard]] std::uint64_t loops() const noexcept { return loops_; }
  [[nodiscard]] double iteration_s() const noexcept { return took_s_ / static_cast<double>(loops_); }

 private:
  double budget_s_;
  double most_loops_ = 0;
  double took_s_ = 0;
  std::uint64_t loops_ = probe_loops;
};

/// The original has the same numbers.
inline constexpr double estimated_repetitions = 3;
inline constexpr double estimate_margin = 4;
inline constexpr double most_budgets = 60 / 0.5;

/// Returns whether the last two of b_eff's lengths would take too long by all methods, judged by the length before
/// them: above 60 s at the original's budget of 0.5 s, and in proportion to it.
[[nodiscard]] inline bool last_two_take_too_long(std::span<const BEffLoops> methods, double growth, double budget_s) {
  double iterations_s = 0;
  for (const BEffLoops& method : methods) iterations_s += method.iteration_s();
  return iterations_s * estimate_margin * (growth + growth * growth) * estimated_repetitions > most_budgets * budget_s;
}

struct BEffParameters : MessagePages {
  std::uint64_t lmax_bytes = std::uint64_t{1} << 20;
  double budget_s = 0.5;
  std::size_t random_rings = 30;
  std::uint64_t seed = 1;
  RandomOrder permutation = RandomOrder::uniform;
  bool additional = true;
  bool short_last_two = true;
  bool timed_check = false;

  [[nodiscard]] static Table<BEffParameters> table() {
    using P = BEffParameters;
    return joined<P>(
        Table<P>{
            // Twelve messages are addressed with 31 bits.
            bytes("lmax_bytes", &P::lmax_bytes, {static_cast<double>(b_eff_middle_bytes), 1U << 28U},
                  "Set the bytes of the longest message. A rank has buffers for twelve of them."),
            seconds("budget_s", &P::budget_s, {1e-6, 3600},
                    "Spend this many seconds on all patterns of one length by one method."),
            count("random_rings", &P::random_rings, {1, 1000},
                  "Measure this many rings over all ranks in random order."),
            count("seed", &P::seed, {}, "Set the seed of the random orders."),
            choice(
                "permutation", &P::permutation,
                "Choose uniform, where every order is equally likely, or slot-probe, as the original, where neighbours "
                "stay neighbours too often."),
            flag("additional", &P::additional,
                 "Also measure bisections, halos and the ping-pong, which are not part of the result."),
            flag(
                "short_last_two", &P::short_last_two,
                "When the two longest lengths would take too long, run only the fastest method of each pattern, once."),
            flag("timed_check", &P::timed_check, "Check each message inside the timer, as the original does."),
        },
        MessagePages::table());
  }

  [[nodiscard]] BEffPatterns patterns(int ranks) const {
    return BEffPatterns({ranks, random_rings, seed, permutation, additional});
  }
};

/// One pattern by one method.
struct BEffExperiment {
  std::size_t pattern = 0;
  mpi::MessageMethod method = mpi::MessageMethod::sendrecv;
};

/// The original has the same numbers.
inline constexpr std::uint64_t messages_in_a_buffer = 6;
inline constexpr std::uint64_t spare_bytes_a_message = 16;
inline constexpr std::size_t sizes_with_a_warm_up = 18;
inline constexpr std::size_t first_short_size = b_eff_size_count - 2;

/// One rank's part in a repetition, as its phases share it: what it has to send in each pattern, how often, and the
/// buffers. Loops are rank 0's choice, which all ranks follow.
class BEffRun final {
 public:
  BEffRun(const BEffParameters& parameters, const WorkloadContext& context)
      : parameters_(parameters),
        context_(context),
        sizes_(b_eff_sizes(parameters.lmax_bytes)),
        controls_{BEffLoops(parameters.budget_s), BEffLoops(parameters.budget_s), BEffLoops(parameters.budget_s)} {
    loops_.fill(BEffLoops::probe_loops);
  }

  /// Collective.
  void find_peers() { nodes_ = nodes_by_rank(*context_.world); }

  /// An error where the node has no room for the buffers.
  [[nodiscard]] Status look_for_room() const {
    const auto ranks = static_cast<std::uint64_t>(context_.world->topology().ranks_on_node);
    return check_room("lmax_bytes", 2 * buffer_bytes() * ranks);
  }

  void make_messages() {
    const mpi::World& world = *context_.world;
    out_memory_ = MessageMemory(buffer_bytes(), parameters_.pages);
    in_memory_ = MessageMemory(buffer_bytes(), parameters_.pages);
    out_ = mpi::RotatingBuffer(out_memory_.bytes());
    in_ = mpi::RotatingBuffer(in_memory_.bytes());
    make_ends().fill(out_memory_.bytes());

    const BEffPatterns patterns = parameters_.patterns(world.size());
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const Pattern pattern = patterns.make(i);
      patterns_.push_back({pattern.name, steps_of(pattern, world.rank()), patterns.has_one_method(i)});
    }
    times_s_.assign(patterns_.size() * message_methods.size(), 0);
    best_.resize(patterns_.size(), mpi::MessageMethod::sendrecv);
    loop_room_ = mpi::MessageLoop::room_for(world.all());
  }

  /// Collective, in order of the sizes: settles the loops from what the size before took.
  void begin_size(std::size_t size) {
    size_ = size;
    if (size == 0) return;
    if (size == first_short_size) shorten();
    for (BEffLoops& method : controls_) method.lengthen(b_eff_growth(parameters_.lmax_bytes, size));
    settle_loops();
    std::ranges::fill(times_s_, 0.0);
  }

  /// Collective, after the probe of the first size.
  void settle_loops() {
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      const auto chosen = static_cast<std::int64_t>(is_short() ? 1 : controls_[i].loops());
      loops_[i] = static_cast<std::uint64_t>(context_.world->all().broadcast(chosen, 0));
    }
  }

  /// Returns what is measured with the current size, in order.
  [[nodiscard]] std::vector<BEffExperiment> experiments() const {
    std::vector<BEffExperiment> all;
    for (std::size_t pattern = 0; pattern < patterns_.size(); ++pattern)
      for (const mpi::MessageMethod method : message_methods) {
        const bool is_only = is_short() ? method == best_[pattern] : method == mpi::MessageMethod::sendrecv;
        if (is_only || (!is_short() && !patterns_[pattern].has_one_method)) all.push_back({pattern, method});
      }
    return all;
  }

  /// Collective: how long this rank took for so many loops of the current size, in seconds; 0 when it only waits. Two
  /// calls of the meter's clock surround them, an operation. `ends` looks at what came last.
  [[nodiscard]] double measure(const BEffExperiment& experiment, std::uint64_t loops, Meter& meter, MessageEnds& ends) {
    mpi::MessageLoop loop = make_loop(experiment);
    const std::string what = name_of(experiment);
    const bool takes_part = !loop.is_idle();
    context_.world->all().barrier();
    if (takes_part && size_ < sizes_with_a_warm_up) loop.run(1);
    const std::int64_t start = now_ns();
    meter.resume(start);
    if (takes_part && !parameters_.timed_check) loop.run(loops);
    for (std::uint64_t i = 0; takes_part && parameters_.timed_check && i < loops; ++i) {
      loop.run(1);
      ends.look(loop, what);
    }
    const std::int64_t stop = now_ns();
    // Nobody leaves a collective phase alone, so there is nothing to be told.
    (void)meter.completed(takes_part ? loops * loop.sends() * sizes_[size_] : 0);
    if (!takes_part) return 0;
    if (!parameters_.timed_check) ends.look(loop, what);
    return static_cast<double>(stop - start) * 1e-9;
  }

  /// Collective: once more, untimed, with messages that were never sent before.
  void check(const BEffExperiment& experiment, MessageEnds& ends) {
    mpi::MessageLoop loop = make_loop(experiment);
    ends.exchange_fresh(loop, size_ * times_s_.size() + place_of(experiment), name_of(experiment));
  }

  /// All patterns together took this rank that long by one method for the probe.
  void probed(mpi::MessageMethod method, double took_s) { control(method).probed(took_s); }

  void took(const BEffExperiment& experiment, double took_s) {
    control(experiment.method).took(took_s);
    times_s_[place_of(experiment)] = took_s;
  }

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

  [[nodiscard]] std::uint64_t buffer_bytes() const {
    return round_up<std::uint64_t>(messages_in_a_buffer * (parameters_.lmax_bytes + spare_bytes_a_message),
                                   sizeof(std::uint64_t));
  }

  [[nodiscard]] BEffLoops& control(mpi::MessageMethod method) { return controls_[static_cast<std::size_t>(method)]; }
  [[nodiscard]] std::size_t place_of(const BEffExperiment& experiment) const {
    return experiment.pattern * message_methods.size() + static_cast<std::size_t>(experiment.method);
  }

  [[nodiscard]] mpi::MessageLoop make_loop(const BEffExperiment& experiment) {
    return {context_.world->all(),
            patterns_[experiment.pattern].steps,
            experiment.method,
            sizes_[size_],
            out_,
            in_,
            loop_room_};
  }

  [[nodiscard]] std::string name_of(const BEffExperiment& experiment) const {
    return name(experiment.pattern) + " by " + word_of(experiment.method);
  }

  void shorten() {
    const bool too_long =
        parameters_.short_last_two &&
        last_two_take_too_long(controls_, b_eff_growth(parameters_.lmax_bytes, size_), parameters_.budget_s);
    if (context_.world->all().broadcast(std::int64_t{too_long ? 1 : 0}, 0) != 0) choose_best();
  }

  /// The fastest method is that whose slowest rank was fastest at the size before.
  void choose_best() {
    context_.world->all().max_all(times_s_);
    for (std::size_t pattern = 0; pattern < patterns_.size(); ++pattern) {
      if (patterns_[pattern].has_one_method) continue;
      best_[pattern] = *std::ranges::min_element(message_methods, {}, [&](mpi::MessageMethod method) {
        return times_s_[place_of({pattern, method})] / static_cast<double>(loops(method));
      });
    }
    context_.world->all().broadcast(std::as_writable_bytes(std::span(best_)), 0);
    is_short_ = true;
  }

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
