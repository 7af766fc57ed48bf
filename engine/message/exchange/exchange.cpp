// SPDX-License-Identifier: Apache-2.0
// Workload `exchange`: one pattern of messages with all its ranks active.
#include "message/exchange/exchange.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/clock.hpp"
#include "message/message_ends.hpp"
#include "message/patterns/rank_order.hpp"
#include "message/patterns/ring_sizes.hpp"
#include "message/patterns/sparse.hpp"
#include "mpi/agreement.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

constexpr int fewest_exchange_ranks = 2;
constexpr std::uint64_t most_buffer_bytes = 4ULL << 30;
/// MPI_Alltoallv has int displacements.
constexpr std::uint64_t most_alltoallv_bytes = (1ULL << 31) - 1;
constexpr std::uint64_t slots_of_a_buffer = 6;

/// Asked for while names register themselves, before what stands at namespace scope need be there.

bool meets_twice(std::vector<int> ranks) {
  std::ranges::sort(ranks);
  return std::ranges::adjacent_find(ranks) != ranks.end();
}

/// Returns whether the rank has two messages for the same rank, or from it.
bool has_parallel_messages(const std::vector<mpi::MessageStep>& steps) {
  std::vector<int> to;
  std::vector<int> from;
  for (const mpi::MessageStep& step : steps) {
    if (step.to != mpi::MessageStep::nobody) to.push_back(step.to);
    if (step.from != mpi::MessageStep::nobody) from.push_back(step.from);
  }
  return meets_twice(std::move(to)) || meets_twice(std::move(from));
}

}  // namespace

Table<ExchangeParameters> ExchangeParameters::table() {
  using P = ExchangeParameters;
  return joined<P>(
      Table<P>{
          choice("pattern", &P::pattern,
                 {
                     {ExchangePattern::ring, "ring"},
                     {ExchangePattern::best_bisection, "best-bisection"},
                     {ExchangePattern::worst_bisection, "worst-bisection"},
                     {ExchangePattern::random_bisection, "random-bisection"},
                     {ExchangePattern::halo_2d, "halo-2d"},
                     {ExchangePattern::halo_3d, "halo-3d"},
                     {ExchangePattern::torus_2d, "torus-2d"},
                     {ExchangePattern::torus_3d, "torus-3d"},
                     {ExchangePattern::incast, "incast"},
                     {ExchangePattern::outcast, "outcast"},
                     {ExchangePattern::sparse, "sparse"},
                 },
                 "Choose which ranks send to which. In a bisection both ranks of a pair send and receive; halos do not "
                 "wrap around, tori do."),
          choice("method", &P::method, message_method_words(), "Choose the MPI calls that move the messages."),
          bytes("message_bytes", &P::message_bytes, {1, 2147483647}, "Set the bytes of each message."),
          text("file", &P::file, "For pattern sparse, read the messages from this file, in lines FROM TO [WEIGHT]."),
          count("seed", &P::seed, {}, "Set the seed of pattern random-bisection."),
      },
      CallWindowParameters::table(), MessagePages::table());
}

Status check_exchange(const ExchangeParameters& parameters, int ranks, const std::string& pointer) {
  if (ranks < fewest_exchange_ranks) return fail(bad_plan(pointer, "an exchange needs two ranks or more"));
  const bool is_sparse = parameters.pattern == ExchangePattern::sparse;
  if (is_sparse && parameters.file.empty()) return fail(bad_plan(pointer + "/file", "pattern sparse needs a file"));
  if (!is_sparse && !parameters.file.empty())
    return fail(bad_plan(pointer + "/file", "a file is for pattern sparse only"));
  return {};
}

Result<Pattern> exchange_pattern(const ExchangeParameters& parameters, int ranks, const std::string& text) {
  switch (parameters.pattern) {
    case ExchangePattern::ring:
      return one_ring("ring", ranks);
    case ExchangePattern::best_bisection:
      return best_bisection(ranks);
    case ExchangePattern::worst_bisection:
      return worst_bisection(ranks);
    case ExchangePattern::random_bisection:
      return Pattern{"random-bisection", random_order(RandomOrder::uniform, ranks, parameters.seed, 0),
                     Pairs{ranks / 2}};
    case ExchangePattern::halo_2d:
      return halo("halo-2d", ranks, 2, false);
    case ExchangePattern::halo_3d:
      return halo("halo-3d", ranks, 3, false);
    case ExchangePattern::torus_2d:
      return halo("torus-2d", ranks, 2, true);
    case ExchangePattern::torus_3d:
      return halo("torus-3d", ranks, 3, true);
    case ExchangePattern::incast:
      return incast(ranks);
    case ExchangePattern::outcast:
      return outcast(ranks);
    case ExchangePattern::sparse:
      break;
  }
  return sparse(text, parameters.file, ranks);
}

ExchangePhase::ExchangePhase(const ExchangeParameters& parameters, const WorkloadContext& context)
    : parameters_(parameters), world_(*context.world), contents_(context.run_key, parameters.message_bytes) {}

ExchangePhase::~ExchangePhase() = default;

/// Of a sparse pattern rank 0 reads the file for all.
Status ExchangePhase::allocate() {
  if (parameters_.pattern != ExchangePattern::sparse) return make_loop();
  if (!world_.root()) return {};
  std::ifstream file(parameters_.file, std::ios::binary);
  text_.assign(std::istreambuf_iterator<char>(file), {});
  if (file.is_open() && !file.bad()) return {};
  return fail(environment_error(parameters_.file, "cannot be read on rank 0's node"));
}

Status ExchangePhase::before() {
  if (parameters_.pattern == ExchangePattern::sparse) {
    text_ = world_.all().broadcast(std::move(text_), 0);
    if (Status made = mpi::agreed_allocation(world_.all(), [this] { return make_loop(); }); !made) return made;
  }
  iterations_ = calls_of_a_window(world_.all(), parameters_, [&](std::uint64_t count) {
    world_.all().barrier();
    return run(count);
  });
  return {};
}

Status ExchangePhase::make_loop() {
  auto pattern = exchange_pattern(parameters_, world_.size(), text_);
  if (!pattern) return fail(pattern.error());
  pattern_ = std::move(*pattern);
  windows_s_.reserve(static_cast<std::size_t>(parameters_.windows));
  auto steps = steps_of(pattern_, world_.rank());
  const std::uint64_t sends = sends_of(steps);
  const std::uint64_t receives = static_cast<std::uint64_t>(
      std::ranges::count_if(steps, [](const mpi::MessageStep& step) { return step.from != mpi::MessageStep::nobody; }));
  const bool is_alltoallv = parameters_.method == mpi::MessageMethod::alltoallv;
  const std::uint64_t slots = std::max({slots_of_a_buffer, sends, receives});
  if (slots * (parameters_.message_bytes + 8) > (is_alltoallv ? most_alltoallv_bytes : most_buffer_bytes))
    return fail(environment_error("exchange", std::to_string(slots) + " messages do not fit into a buffer"));
  if (is_alltoallv && has_parallel_messages(steps))
    return fail(environment_error("exchange", "alltoallv sends one message a pair, so no weight may be above 1"));
  buffers_ = std::make_unique<MessageBuffers>(parameters_.message_bytes, sends, receives, parameters_.pages);
  contents_.fill(buffers_->out().bytes(), world_.rank());
  contents_.poison(buffers_->in().bytes());
  loop_ = std::make_unique<mpi::MessageLoop>(world_.all(), std::move(steps), parameters_.method,
                                             parameters_.message_bytes, buffers_->out(), buffers_->in());
  return {};
}

std::int64_t ExchangePhase::run(std::uint64_t iterations) {
  const std::int64_t start = now_ns();
  loop_->run(iterations);
  return now_ns() - start;
}

Status ExchangePhase::execute(Meter& meter) {
  const std::uint64_t bytes = iterations_ * loop_->sends() * parameters_.message_bytes;
  for (std::uint64_t i = 0; i < prepared_; ++i) {
    world_.all().barrier();
    const std::int64_t took_ns = run(iterations_);
    (void)meter.completed(bytes);
    windows_s_.push_back(static_cast<double>(took_ns) * 1e-9);
  }
  return {};
}

/// Checks what the timed windows left, and then one iteration more, into a buffer that holds nothing right.
Verification ExchangePhase::after(std::uint64_t, Meter&) {
  world_.all().max_all(windows_s_);
  messages_ = world_.all().sum(loop_->sends());
  Verification found;
  contents_.check_received(*loop_, found);
  contents_.poison(buffers_->in().bytes());
  loop_->run(1);
  contents_.check_received(*loop_, found);
  return found;
}

Gauges ExchangePhase::gauges() const {
  const auto [shortest, longest] = std::ranges::minmax_element(windows_s_);
  const bool none = windows_s_.empty();
  const std::uint64_t done = iterations_ * windows_s_.size();
  const double messages = loop_ == nullptr ? 0 : static_cast<double>(done * loop_->sends());
  return {{"elapsed_s", std::accumulate(windows_s_.begin(), windows_s_.end(), 0.0)},
          {"shortest_window_s", none ? 0 : *shortest},
          {"longest_window_s", none ? 0 : *longest},
          {"iterations", static_cast<double>(done)},
          {"message_bytes", static_cast<double>(parameters_.message_bytes)},
          {"messages", messages},
          {"bytes", messages * static_cast<double>(parameters_.message_bytes)}};
}

void ExchangePhase::add_facts(nlohmann::json& facts) const {
  facts["pattern"] = pattern_.name;
  facts["participants"] = places_of(pattern_);
  facts["messages_an_iteration"] = messages_;
  facts["windows_s"] = windows_s_;
  if (buffers_ != nullptr) facts["pages"] = buffers_->pages();
}

namespace {

const Registered<WorkloadEntry> registered_exchange{without_storage<ExchangeParameters>({
    .name = "exchange",
    .doc = "Sends the messages of one pattern (bisections, rings, halos, incast, a given list) with all ranks of the "
           "pattern active.",
    .check = check_exchange,
    .make = single_phase<ExchangePhase>,
})};

}  // namespace
}  // namespace ullage
