// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <thread>

#include "base/clock.hpp"
#include "base/permutation.hpp"
#include "base/resources.hpp"
#include "base/std.hpp"
#include "memory/chase/chase.hpp"
#include "memory/stream/choice.hpp"
#include "work/entry.hpp"

namespace ullage {

enum class Injection { read, write, non_temporal_write };

struct LoadedLatencyParameters : WindowParameters {
  int injectors = 1;
  Injection injection = Injection::read;
  std::uint64_t delay = 0;
  std::uint64_t working_set_bytes = std::uint64_t{256} << 20U;
  Pages pages = Pages::system;

  [[nodiscard]] static Table<LoadedLatencyParameters> table();
  [[nodiscard]] ChaseShape shape() const { return {.bytes = working_set_bytes}; }
  [[nodiscard]] StreamKind kind() const { return injection == Injection::read ? StreamKind::read : StreamKind::write; }
  [[nodiscard]] Stores stores() const {
    return injection == Injection::non_temporal_write ? Stores::non_temporal : Stores::ordinary;
  }
};

/// `pointer` is that of the parameters object.
[[nodiscard]] Status check_loaded_latency(const LoadedLatencyParameters& parameters, const std::string& pointer);
inline constexpr std::uint64_t word_read = 0x9e3779b97f4a7c15ULL;

/// Moved in one go without a pause: often enough to look whether the chase has ended, seldom enough not to cost.
inline constexpr std::uint64_t most_lines_a_turn = 512;

/// The longer the pause, the fewer lines: a piece lasts about as long.
inline std::uint64_t lines_a_turn(const LoadedLatencyParameters& p) {
  return std::max<std::uint64_t>(1, most_lines_a_turn / (1 + p.delay));
}

inline Error injected_wrong(std::string text) {
  return verification_error("check", "memory of an injector", std::move(text));
}

/// Loads memory piece by piece, each of its lines followed by a pause.
class Injector final {
 public:
  [[nodiscard]] static Result<Injector> make(const LoadedLatencyParameters& parameters) {
    auto memory = Region::map(parameters.working_set_bytes, parameters.pages);
    if (!memory) return fail(memory.error());
    if (const Status touched = memory->touch(memory->bytes()); !touched) return fail(touched.error());
    return Injector(std::move(*memory), parameters);
  }

  /// Moves the next piece; how many bytes that are.
  std::uint64_t inject() {
    piece_.a = memory_.bytes().data() + injected_ % pieces_ * piece_bytes_;
    piece_.b = piece_.a;
    piece_.c = piece_.a;
    sum_ += loop_(piece_);
    ++injected_;
    return piece_bytes_;
  }

  /// What was read must add up; what was written must be there, and nothing more.
  [[nodiscard]] Status check() const {
    if (writes_) return check_written();
    const std::uint64_t right = word_read * (injected_ * piece_bytes_ / sizeof word_read);
    if (sum_ == right) return {};
    return fail(
        injected_wrong("the sum of what was read is " + std::to_string(sum_) + ", should be " + std::to_string(right)));
  }

  [[nodiscard]] std::span<std::byte> memory() const { return memory_.bytes(); }
  [[nodiscard]] std::uint64_t huge_bytes() const { return memory_.huge_bytes(); }

 private:
  Injector(Region memory, const LoadedLatencyParameters& p)
      : memory_(std::move(memory)),
        piece_bytes_(lines_a_turn(p) * stream_line),
        pieces_(p.working_set_bytes / piece_bytes_),
        writes_(p.injection != Injection::read) {
    piece_.a = memory_.bytes().data();
    piece_.b = piece_.a;
    piece_.c = piece_.a;
    piece_.block_bytes = pieces_ * piece_bytes_;
    piece_.blocks = 1;
    loop_ =
        fastest_of(stream_candidates(p.kind(), p.stores(), 0), p.kind(), p.stores(), piece_).loop(p.kind(), p.stores());
    piece_.block_bytes = p.delay == 0 ? piece_bytes_ : stream_line;
    piece_.blocks = piece_bytes_ / piece_.block_bytes;
    piece_.passes = 1;
    piece_.pause = p.delay;
    std::ranges::fill(memory_.bytes(), std::byte{0});  // the trials have written
    if (!writes_)
      std::ranges::fill(std::span(reinterpret_cast<std::uint64_t*>(memory_.bytes().data()),
                                  memory_.bytes().size() / sizeof word_read),
                        word_read);
  }

  [[nodiscard]] Status check_written() const {
    const auto* const elements = reinterpret_cast<const double*>(memory_.bytes().data());
    const std::uint64_t written = std::min(injected_, pieces_) * piece_bytes_ / sizeof(double);
    for (std::uint64_t i = 0; i < pieces_ * piece_bytes_ / sizeof(double); ++i) {
      const double right = i < written ? stream_factor(0) : 0;
      if (elements[i] != right)
        return fail(injected_wrong("element " + std::to_string(i) + " is " + std::to_string(elements[i]) +
                                   ", should be " + std::to_string(right)));
    }
    return {};
  }

  Region memory_;
  StreamJob piece_;
  std::uint64_t piece_bytes_;
  std::uint64_t pieces_;  // that the memory is made of; the rest is not used
  bool writes_;
  StreamLoop loop_ = nullptr;
  std::uint64_t injected_ = 0;  // pieces
  std::uint64_t sum_ = 0;
};

inline constexpr int looks_before_yielding = 1 << 16;

/// Thread 0 chases through memory of its own while the others inject into theirs. A pass is that of ChaseKernel.
class LoadedLatencyKernel final : public WindowedKernel {
 public:
  /// `ranks_on_node` share its memory.
  LoadedLatencyKernel(const LoadedLatencyParameters& parameters, std::uint64_t seed, int ranks_on_node)
      : parameters_(parameters), seed_(seed), shares_(static_cast<std::size_t>(parameters.injectors)) {
    const Count injectors_bytes = Count(parameters.working_set_bytes) * shares_.size();
    ready_ = check_room("working_set_bytes", (injectors_bytes + parameters.shape().needed_bytes()) *
                                                 static_cast<std::uint64_t>(ranks_on_node));
  }

  [[nodiscard]] Status make_ready(std::size_t thread) override {
    if (!ready_) return ready_;
    if (thread > 0) {
      auto injector = Injector::make(parameters_);
      if (!injector) return fail(injector.error());
      shares_[thread - 1].injector.emplace(std::move(*injector));
      return {};
    }
    auto cycle = ChaseCycle::make(parameters_.shape(), parameters_.pages, -1, mix64(seed_));
    if (!cycle) return fail(cycle.error());
    chaser_.emplace(std::move(*cycle), 1);
    return {};
  }

  void run(std::size_t thread, std::uint64_t passes) override {
    if (thread == 0)
      chase(passes * ChaseKernel::steps_a_pass);
    else
      inject(shares_[thread - 1]);
  }

  void timing_begins() override {
    chase_ns_ = 0;
    injected_meanwhile_ = 0;
  }

  [[nodiscard]] Status check() override {
    for (const Share& share : shares_)
      if (auto right = share.injector->check(); !right) return right;
    return chaser_->check();
  }

  void report(const WindowTotals& totals, Gauges& gauges) const override {
    const auto injected = static_cast<double>(injected_meanwhile_);
    gauges["accesses"] = static_cast<double>(totals.passes * ChaseKernel::steps_a_pass);
    gauges["chase_s"] = static_cast<double>(chase_ns_) * 1e-9;
    gauges["injected_bytes"] = injected;
    gauges["injected_bus_bytes"] = injected * static_cast<double>(bus_arrays(parameters_.kind(), parameters_.stores()));
    std::uint64_t huge = chaser_ ? chaser_->cycle().huge_bytes() : 0;
    for (const Share& share : shares_) huge += share.injector ? share.injector->huge_bytes() : 0;
    gauges["huge_bytes"] = static_cast<double>(huge);
  }

  /// Returns what a thread from number 1 on loads the memory with; after its make_ready().
  [[nodiscard]] const Injector& injector(std::size_t thread) const { return *shares_[thread - 1].injector; }

 private:
  struct alignas(128) Share {  // apart, since each is written by its own thread
    std::optional<Injector> injector;
    std::uint64_t turns = 0;
    std::atomic<std::uint64_t> injected_bytes = 0;
  };

  /// Begins when all injectors are at work, and counts what they do until it ends.
  void chase(std::uint64_t steps) {
    ++turns_;
    for (int looks = 0; at_work_.load(std::memory_order_acquire) < turns_ * shares_.size(); ++looks)
      if (looks >= looks_before_yielding) std::this_thread::yield();
    const std::uint64_t injected_before = injected_bytes();
    const std::int64_t begun = now_ns();
    chaser_->follow(steps);
    chase_ns_ += now_ns() - begun;
    injected_meanwhile_ += injected_bytes() - injected_before;
    ended_.store(turns_, std::memory_order_release);
  }

  void inject(Share& share) {
    ++share.turns;
    bool has_begun = false;
    while (ended_.load(std::memory_order_acquire) < share.turns) {
      const std::uint64_t moved = share.injector->inject();
      share.injected_bytes.store(share.injected_bytes.load(std::memory_order_relaxed) + moved,
                                 std::memory_order_relaxed);
      if (!has_begun) ++at_work_;
      has_begun = true;
    }
  }

  [[nodiscard]] std::uint64_t injected_bytes() const {
    std::uint64_t bytes = 0;
    for (const Share& share : shares_) bytes += share.injected_bytes.load(std::memory_order_relaxed);
    return bytes;
  }

  LoadedLatencyParameters parameters_;
  std::uint64_t seed_;
  Status ready_;
  std::optional<Chaser> chaser_;
  std::uint64_t turns_ = 0;                              // of the chase
  std::int64_t chase_ns_ = 0;                            // since the timing began, as the next
  std::uint64_t injected_meanwhile_ = 0;                 // bytes
  std::vector<Share> shares_;                            // of threads 1 and up
  alignas(128) std::atomic<std::uint64_t> ended_ = 0;    // chases
  alignas(128) std::atomic<std::uint64_t> at_work_ = 0;  // how often an injector has begun
};

}  // namespace ullage
