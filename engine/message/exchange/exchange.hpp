// SPDX-License-Identifier: Apache-2.0
// The messages of one pattern, again and again, with all its ranks active.
#pragma once

#include <fstream>
#include <iterator>
#include <numeric>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/std.hpp"
#include "message/call_windows.hpp"
#include "message/message_contents.hpp"
#include "message/patterns/pattern.hpp"
#include "message/patterns/rank_order.hpp"
#include "message/patterns/sparse.hpp"
#include "mpi/agreement.hpp"
#include "work/entry.hpp"
#include "work/workload.hpp"

namespace ullage {

enum class ExchangePattern {
  ring,
  best_bisection,
  worst_bisection,
  random_bisection,
  halo_2d,
  halo_3d,
  torus_2d,
  torus_3d,
  incast,
  outcast,
  sparse
};

struct ExchangeParameters : CallWindowParameters, MessagePages {
  ExchangePattern pattern = ExchangePattern::ring;
  mpi::MessageMethod method = mpi::MessageMethod::nonblocking;
  std::uint64_t message_bytes = 1 << 20;
  std::string file;
  std::uint64_t seed = 1;

  [[nodiscard]] static Table<ExchangeParameters> table();
};

/// The pattern of those parameters. `text` is that of a sparse pattern's file.
[[nodiscard]] Result<Pattern> exchange_pattern(const ExchangeParameters& parameters, int ranks,
                                               const std::string& text);

inline constexpr std::uint64_t most_buffer_bytes = 4ULL << 30;

/// MPI_Alltoallv has int displacements.
inline constexpr std::uint64_t most_alltoallv_bytes = (1ULL << 31) - 1;
inline constexpr std::uint64_t slots_of_a_buffer = 6;

inline bool meets_twice(std::vector<int> ranks) {
  std::ranges::sort(ranks);
  return std::ranges::adjacent_find(ranks) != ranks.end();
}

/// Returns whether the rank has two messages for the same rank, or from it.
inline bool has_parallel_messages(const std::vector<mpi::MessageStep>& steps) {
  std::vector<int> to;
  std::vector<int> from;
  for (const mpi::MessageStep& step : steps) {
    if (step.to != mpi::MessageStep::nobody) to.push_back(step.to);
    if (step.from != mpi::MessageStep::nobody) from.push_back(step.from);
  }
  return meets_twice(std::move(to)) || meets_twice(std::move(from));
}

/// A window is one operation of the meter: a barrier, then so many iterations of the pattern; its time is that of the
/// slowest rank. Gauges: elapsed_s (of all windows), shortest_window_s, longest_window_s, iterations, message_bytes
/// (the same on every rank); messages and bytes (that this rank has sent in them). Facts: pattern, participants,
/// messages_an_iteration, windows_s.
class ExchangePhase final : public PhaseWork {
 public:
  ExchangePhase(const ExchangeParameters& parameters, const WorkloadContext& context)
      : parameters_(parameters), world_(*context.world), contents_(context.run_key, parameters.message_bytes) {}
  ~ExchangePhase() override = default;

  [[nodiscard]] PhaseInfo info() const override { return {.name = "exchange", .collective = true}; }

  /// Of a sparse pattern rank 0 reads the file for all.
  [[nodiscard]] Status allocate() override {
    if (parameters_.pattern != ExchangePattern::sparse) return make_loop();
    if (!world_.root()) return {};
    std::ifstream file(parameters_.file, std::ios::binary);
    text_.assign(std::istreambuf_iterator<char>(file), {});
    if (file.is_open() && !file.bad()) return {};
    return fail(environment_error(parameters_.file, "cannot be read on rank 0's node"));
  }

  [[nodiscard]] Status before() override {
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

  [[nodiscard]] std::uint64_t operations() const override { return static_cast<std::uint64_t>(parameters_.windows); }

  [[nodiscard]] Status execute(Meter& meter) override {
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
  [[nodiscard]] Verification after(std::uint64_t, Meter&) override {
    world_.all().max_all(windows_s_);
    messages_ = world_.all().sum(loop_->sends());
    Verification found;
    contents_.check_received(*loop_, found);
    contents_.poison(buffers_->in().bytes());
    loop_->run(1);
    contents_.check_received(*loop_, found);
    return found;
  }

  [[nodiscard]] Gauges gauges() const override {
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

  void add_facts(nlohmann::json& facts) const override {
    facts["pattern"] = pattern_.name;
    facts["participants"] = places_of(pattern_);
    facts["messages_an_iteration"] = messages_;
    facts["windows_s"] = windows_s_;
    if (buffers_ != nullptr) facts["pages"] = buffers_->pages();
  }

 private:
  [[nodiscard]] Status make_loop() {
    if (auto status = take_into(pattern_, exchange_pattern(parameters_, world_.size(), text_)); !status) return status;
    windows_s_.reserve(static_cast<std::size_t>(parameters_.windows));
    auto steps = steps_of(pattern_, world_.rank());
    const std::uint64_t sends = sends_of(steps);
    const std::uint64_t receives = static_cast<std::uint64_t>(std::ranges::count_if(
        steps, [](const mpi::MessageStep& step) { return step.from != mpi::MessageStep::nobody; }));
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

  [[nodiscard]] std::int64_t run(std::uint64_t iterations) {
    const std::int64_t start = now_ns();
    loop_->run(iterations);
    return now_ns() - start;
  }

  ExchangeParameters parameters_;
  const mpi::World& world_;
  MessageContents contents_;
  std::string text_;  // of a sparse pattern
  Pattern pattern_;
  std::unique_ptr<MessageBuffers> buffers_;
  std::unique_ptr<mpi::MessageLoop> loop_;
  std::uint64_t iterations_ = 1;
  std::uint64_t messages_ = 0;  // of all ranks in an iteration
  std::vector<double> windows_s_;
};

}  // namespace ullage
