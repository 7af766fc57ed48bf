// SPDX-License-Identifier: Apache-2.0
#include "message/b_eff/run.hpp"

#include <algorithm>
#include <cmath>

#include "base/clock.hpp"
#include "base/count.hpp"
#include "base/resources.hpp"

namespace ullage {
namespace {

constexpr std::size_t last_doubled = 12;
constexpr std::size_t steps_above = b_eff_size_count - 1 - last_doubled;

double times_middle(std::uint64_t lmax_bytes, std::size_t steps) {
  const double all = static_cast<double>(lmax_bytes) / static_cast<double>(b_eff_middle_bytes);
  return std::pow(all, static_cast<double>(steps) / static_cast<double>(steps_above));
}

}  // namespace

std::array<std::uint64_t, b_eff_size_count> b_eff_sizes(std::uint64_t lmax_bytes) {
  std::array<std::uint64_t, b_eff_size_count> sizes{};
  for (std::size_t i = 0; i <= last_doubled; ++i) sizes[i] = std::uint64_t{1} << i;
  for (std::size_t k = 1; k <= steps_above; ++k)
    sizes[last_doubled + k] =
        static_cast<std::uint64_t>(std::llround(static_cast<double>(b_eff_middle_bytes) * times_middle(lmax_bytes, k)));
  return sizes;
}

double b_eff_growth(std::uint64_t lmax_bytes, std::size_t index) {
  return index <= last_doubled ? 2 : times_middle(lmax_bytes, 1);
}

namespace {

constexpr double shortest_probe_s = 1e-9;
/// The original has the same numbers.
constexpr double estimated_repetitions = 3;
constexpr double estimate_margin = 4;
constexpr double most_budgets = 60 / 0.5;

}  // namespace

void BEffLoops::probed(double took_s) {
  const double allowed = static_cast<double>(probe_loops) * budget_s_ / std::max(took_s, shortest_probe_s);
  most_loops_ = std::floor(std::max(allowed, static_cast<double>(probe_loops)));
  loops_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(most_loops_ / 2));
  took_s_ = took_s;
}

void BEffLoops::lengthen(double growth) {
  const double more = std::max(1.0, budget_s_ / std::max(took_s_, shortest_probe_s));
  const double wanted = static_cast<double>(loops_) / growth * more;
  loops_ = static_cast<std::uint64_t>(std::max(1.0, std::min(wanted, most_loops_)));
  took_s_ = 0;
}

bool last_two_take_too_long(std::span<const BEffLoops> methods, double growth, double budget_s) {
  double iterations_s = 0;
  for (const BEffLoops& method : methods) iterations_s += method.iteration_s();
  return iterations_s * estimate_margin * (growth + growth * growth) * estimated_repetitions > most_budgets * budget_s;
}

namespace {

/// The original has the same numbers.
constexpr std::uint64_t messages_in_a_buffer = 6;
constexpr std::uint64_t spare_bytes_a_message = 16;
constexpr std::size_t sizes_with_a_warm_up = 18;
constexpr std::size_t first_short_size = b_eff_size_count - 2;

}  // namespace

Table<BEffParameters> BEffParameters::table() {
  using P = BEffParameters;
  return joined<P>(
      Table<P>{
          // Twelve messages are addressed with 31 bits.
          bytes("lmax_bytes", &P::lmax_bytes, {static_cast<double>(b_eff_middle_bytes), 1U << 28U},
                "Set the bytes of the longest message. A rank has buffers for twelve of them."),
          seconds("budget_s", &P::budget_s, {1e-6, 3600},
                  "Spend this many seconds on all patterns of one length by one method."),
          count("random_rings", &P::random_rings, {1, 1000}, "Measure this many rings over all ranks in random order."),
          count("seed", &P::seed, {}, "Set the seed of the random orders."),
          choice(
              "permutation", &P::permutation, random_order_words(),
              "Choose uniform, where every order is equally likely, or slot-probe, as the original, where neighbours "
              "stay neighbours too often."),
          flag("additional", &P::additional,
               "Also measure bisections, halos and the ping-pong, which are not part of the result."),
          flag("short_last_two", &P::short_last_two,
               "When the two longest lengths would take too long, run only the fastest method of each pattern, once."),
          flag("timed_check", &P::timed_check, "Check each message inside the timer, as the original does."),
      },
      MessagePages::table());
}

BEffPatterns BEffParameters::patterns(int ranks) const {
  return BEffPatterns({ranks, random_rings, seed, permutation, additional});
}

BEffRun::BEffRun(const BEffParameters& parameters, const WorkloadContext& context)
    : parameters_(parameters),
      context_(context),
      sizes_(b_eff_sizes(parameters.lmax_bytes)),
      controls_{BEffLoops(parameters.budget_s), BEffLoops(parameters.budget_s), BEffLoops(parameters.budget_s)} {
  loops_.fill(BEffLoops::probe_loops);
}

void BEffRun::find_peers() { nodes_ = nodes_by_rank(*context_.world); }

std::uint64_t BEffRun::buffer_bytes() const {
  return round_up<std::uint64_t>(messages_in_a_buffer * (parameters_.lmax_bytes + spare_bytes_a_message),
                                 sizeof(std::uint64_t));
}

Status BEffRun::look_for_room() const {
  const auto ranks = static_cast<std::uint64_t>(context_.world->topology().ranks_on_node);
  return check_room("lmax_bytes", 2 * buffer_bytes() * ranks);
}

void BEffRun::make_messages() {
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

void BEffRun::begin_size(std::size_t size) {
  size_ = size;
  if (size == 0) return;
  if (size == first_short_size) shorten();
  for (BEffLoops& method : controls_) method.lengthen(b_eff_growth(parameters_.lmax_bytes, size));
  settle_loops();
  std::ranges::fill(times_s_, 0.0);
}

void BEffRun::settle_loops() {
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    const auto chosen = static_cast<std::int64_t>(is_short() ? 1 : controls_[i].loops());
    loops_[i] = static_cast<std::uint64_t>(context_.world->all().broadcast(chosen, 0));
  }
}

void BEffRun::shorten() {
  const bool too_long =
      parameters_.short_last_two &&
      last_two_take_too_long(controls_, b_eff_growth(parameters_.lmax_bytes, size_), parameters_.budget_s);
  if (context_.world->all().broadcast(std::int64_t{too_long ? 1 : 0}, 0) != 0) choose_best();
}

/// The fastest method is that whose slowest rank was fastest at the size before.
void BEffRun::choose_best() {
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

std::vector<BEffExperiment> BEffRun::experiments() const {
  std::vector<BEffExperiment> all;
  for (std::size_t pattern = 0; pattern < patterns_.size(); ++pattern)
    for (const mpi::MessageMethod method : message_methods) {
      const bool is_only = is_short() ? method == best_[pattern] : method == mpi::MessageMethod::sendrecv;
      if (is_only || (!is_short() && !patterns_[pattern].has_one_method)) all.push_back({pattern, method});
    }
  return all;
}

mpi::MessageLoop BEffRun::make_loop(const BEffExperiment& experiment) {
  return {context_.world->all(),
          patterns_[experiment.pattern].steps,
          experiment.method,
          sizes_[size_],
          out_,
          in_,
          loop_room_};
}

std::string BEffRun::name_of(const BEffExperiment& experiment) const {
  return name(experiment.pattern) + " by " + word_of(experiment.method);
}

double BEffRun::measure(const BEffExperiment& experiment, std::uint64_t loops, Meter& meter, MessageEnds& ends) {
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

void BEffRun::check(const BEffExperiment& experiment, MessageEnds& ends) {
  mpi::MessageLoop loop = make_loop(experiment);
  ends.exchange_fresh(loop, size_ * times_s_.size() + place_of(experiment), name_of(experiment));
}

void BEffRun::took(const BEffExperiment& experiment, double took_s) {
  control(experiment.method).took(took_s);
  times_s_[place_of(experiment)] = took_s;
}

}  // namespace ullage
