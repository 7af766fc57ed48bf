// SPDX-License-Identifier: Apache-2.0
// Ranks that write, read or add to the memory of others through MPI, without the others' help.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "message/call_windows.hpp"
#include "mpi/windows.hpp"
#include "work/workload.hpp"

namespace ullage {

enum class OneSidedOperation { put, get, accumulate };
enum class OneSidedSync { lock, flush, fence };
enum class OneSidedPairs { one, all };

struct OneSidedParameters : CallWindowParameters {
  OneSidedOperation operation = OneSidedOperation::put;
  OneSidedSync sync = OneSidedSync::flush;
  OneSidedPairs pairs = OneSidedPairs::one;
  std::uint64_t message_bytes = 8;
  std::uint64_t outstanding = 1;

  [[nodiscard]] static Table<OneSidedParameters> table();
};

[[nodiscard]] Status check_one_sided(const OneSidedParameters& parameters, int ranks, const std::string& pointer);

/// Whom a rank works on. One pair: rank 0 and the last one; all: rank i of the first half and rank i + half.
struct OneSidedRole {
  static constexpr int nobody = -1;
  int target = nobody;  // of an origin
  int origin = nobody;  // of a target
};
[[nodiscard]] OneSidedRole one_sided_role(OneSidedPairs pairs, int rank, int ranks);

/// A window of the meter is a barrier and then calls: each `outstanding` operations and what ends them. Targets wait in
/// the next barrier, which lets MPI work for them; with fence all ranks call that equally often. Gauges, the same on
/// all ranks: calls, operations (of one origin, all windows), origins, elapsed_s (mean over the origins),
/// least_elapsed_s, most_elapsed_s.
class OneSidedPhase final : public PhaseWork {
 public:
  OneSidedPhase(const OneSidedParameters& parameters, const WorkloadContext& context);

  [[nodiscard]] PhaseInfo info() const override { return {.name = "one-sided", .collective = true}; }
  [[nodiscard]] Status allocate() override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override { return static_cast<std::uint64_t>(parameters_.windows); }
  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Gauges gauges() const override;

 private:
  [[nodiscard]] bool is_origin() const { return role_.target != OneSidedRole::nobody; }
  [[nodiscard]] bool is_target() const { return role_.origin != OneSidedRole::nobody; }
  [[nodiscard]] Status make_window();
  [[nodiscard]] std::span<std::byte> slot(std::uint64_t operation);
  [[nodiscard]] std::uint64_t word_at(std::size_t place, int origin) const;
  void fill(std::span<std::byte> bytes, int origin) const;
  void fill_own();
  void begin(std::uint64_t operation);
  void fenced_calls(std::uint64_t calls);
  void locked_calls(std::uint64_t calls);
  void flushed_calls(std::uint64_t calls);
  [[nodiscard]] std::int64_t timed_calls(std::uint64_t calls);
  void reduce_times();
  [[nodiscard]] std::uint64_t additions_at(std::size_t place) const;
  [[nodiscard]] bool holds(std::span<const std::byte> found, int origin) const;
  [[nodiscard]] bool is_right();

  OneSidedParameters parameters_;
  const mpi::World& world_;
  const mpi::Comm& comm_;
  int rank_;
  OneSidedRole role_;
  std::uint64_t key_;
  std::uint64_t slots_;
  std::vector<std::byte> local_;
  std::optional<mpi::Window> window_;  // from before() on
  std::uint64_t calls_ = 1;
  std::uint64_t all_calls_ = 0;  // since the memory was filled, the warm-up's too
  std::uint64_t timed_calls_ = 0;
  std::int64_t elapsed_ns_ = 0;
  int origins_ = 1;
  double mean_s_ = 0;
  double least_s_ = 0;
  double most_s_ = 0;
};

}  // namespace ullage
