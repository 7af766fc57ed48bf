// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "memory/chase/chase.hpp"
#include "memory/stream/choice.hpp"

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

/// Loads memory piece by piece, each of its lines followed by a pause.
class Injector final {
 public:
  [[nodiscard]] static Result<Injector> make(const LoadedLatencyParameters& parameters);

  /// Moves the next piece; how many bytes that are.
  std::uint64_t inject();
  /// What was read must add up; what was written must be there, and nothing more.
  [[nodiscard]] Status check() const;
  [[nodiscard]] std::span<std::byte> memory() const { return memory_.bytes(); }
  [[nodiscard]] std::uint64_t huge_bytes() const { return memory_.huge_bytes(); }

 private:
  Injector(Region memory, const LoadedLatencyParameters& parameters);
  [[nodiscard]] Status check_written() const;

  Region memory_;
  StreamJob piece_;
  std::uint64_t piece_bytes_;
  std::uint64_t pieces_;  // that the memory is made of; the rest is not used
  bool writes_;
  StreamLoop loop_ = nullptr;
  std::uint64_t injected_ = 0;  // pieces
  std::uint64_t sum_ = 0;
};

/// Thread 0 chases through memory of its own while the others inject into theirs. A pass is that of ChaseKernel.
class LoadedLatencyKernel final : public WindowedKernel {
 public:
  /// `ranks_on_node` share its memory.
  LoadedLatencyKernel(const LoadedLatencyParameters& parameters, std::uint64_t seed, int ranks_on_node);

  [[nodiscard]] Status make_ready(std::size_t thread) override;
  void run(std::size_t thread, std::uint64_t passes) override;
  void timing_begins() override;
  [[nodiscard]] Status check() override;
  void report(const WindowTotals& totals, Gauges& gauges) const override;

  /// Returns what a thread from number 1 on loads the memory with; after its make_ready().
  [[nodiscard]] const Injector& injector(std::size_t thread) const { return *shares_[thread - 1].injector; }

 private:
  struct alignas(128) Share {  // apart, since each is written by its own thread
    std::optional<Injector> injector;
    std::uint64_t turns = 0;
    std::atomic<std::uint64_t> injected_bytes = 0;
  };

  void chase(std::uint64_t steps);
  void inject(Share& share);
  [[nodiscard]] std::uint64_t injected_bytes() const;

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
