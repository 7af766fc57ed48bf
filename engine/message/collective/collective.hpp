// SPDX-License-Identifier: Apache-2.0
// One collective operation of MPI, called again and again by all ranks, alone or beside computation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "message/call_windows.hpp"
#include "message/collective_content.hpp"
#include "mpi/collectives.hpp"
#include "noise/fixed_chain.hpp"
#include "work/workload.hpp"

namespace ullage {

enum class CollectiveMode { blocking, overlap };
enum class CollectiveRoot { rotating, first };

struct CollectiveParameters : CallWindowParameters {
  mpi::Collective operation = mpi::Collective::allreduce;
  std::uint64_t message_bytes = 8;
  mpi::Element element = mpi::Element::fp32;
  CollectiveMode mode = CollectiveMode::blocking;
  std::uint64_t tests = 0;
  CollectiveRoot root = CollectiveRoot::rotating;

  [[nodiscard]] static Table<CollectiveParameters> table();
  [[nodiscard]] mpi::CollectiveShape shape() const { return {operation, message_bytes, element}; }
};

/// Checks what spans parameters and layout.
[[nodiscard]] Status check_collective(const CollectiveParameters& parameters, int ranks, const std::string& pointer);

/// A window is one operation of the meter: a barrier, then the calls. With mode overlap it has three stretches of as
/// many calls, each after a barrier: the nonblocking operation alone, computation of the same length alone, and the
/// operation with the computation inside, which is cut by `tests` calls of MPI_Test. Gauges: calls (of all windows, of
/// each stretch), link_bytes (of all calls, on the link of one rank), call_s (this rank's time of the operation alone),
/// shortest_window_s; with overlap also compute_s and overall_s.
class CollectivePhase final : public PhaseWork {
 public:
  CollectivePhase(const CollectiveParameters& parameters, const WorkloadContext& context);

  [[nodiscard]] PhaseInfo info() const override { return {.name = "collective", .collective = true}; }
  [[nodiscard]] Status allocate() override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override { return static_cast<std::uint64_t>(parameters_.windows); }
  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Gauges gauges() const override;

 private:
  [[nodiscard]] int next_root();
  [[nodiscard]] std::int64_t blocking_calls(std::uint64_t calls);
  [[nodiscard]] std::int64_t pure_calls(std::uint64_t calls);
  [[nodiscard]] std::int64_t computation(std::uint64_t calls) const;
  [[nodiscard]] std::int64_t overlapped_calls(std::uint64_t calls);
  void size_computation();
  void overlap_window();

  CollectiveParameters parameters_;
  const mpi::Comm& comm_;
  int ranks_;
  CollectiveContent content_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  std::optional<mpi::CollectiveCall> call_;  // from before() on
  std::uint64_t calls_ = 1;
  int root_ = 0;             // of the last call
  int turn_ = 0;             // root of the next one
  ChainPieces computation_;  // beside one call
  std::uint64_t made_ = 0;
  std::int64_t call_ns_ = 0;
  std::int64_t shortest_ns_ = 0;
  std::int64_t compute_ns_ = 0;
  std::int64_t overall_ns_ = 0;
};

}  // namespace ullage
