// SPDX-License-Identifier: Apache-2.0
// The messages of one pattern, again and again, with all its ranks active.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "message/call_windows.hpp"
#include "message/message_contents.hpp"
#include "message/patterns/pattern.hpp"
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

/// Checks what spans parameters and layout.
[[nodiscard]] Status check_exchange(const ExchangeParameters& parameters, int ranks, const std::string& pointer);

/// The pattern of those parameters. `text` is that of a sparse pattern's file.
[[nodiscard]] Result<Pattern> exchange_pattern(const ExchangeParameters& parameters, int ranks,
                                               const std::string& text);

/// A window is one operation of the meter: a barrier, then so many iterations of the pattern; its time is that of the
/// slowest rank. Gauges: elapsed_s (of all windows), shortest_window_s, longest_window_s, iterations, message_bytes
/// (the same on every rank); messages and bytes (that this rank has sent in them). Facts: pattern, participants,
/// messages_an_iteration, windows_s.
class ExchangePhase final : public PhaseWork {
 public:
  ExchangePhase(const ExchangeParameters& parameters, const WorkloadContext& context);
  ~ExchangePhase() override;

  [[nodiscard]] PhaseInfo info() const override { return {.name = "exchange", .collective = true}; }
  [[nodiscard]] Status allocate() override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override { return static_cast<std::uint64_t>(parameters_.windows); }
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Gauges gauges() const override;
  void add_facts(nlohmann::json& facts) const override;

 private:
  [[nodiscard]] Status make_loop();
  [[nodiscard]] std::int64_t run(std::uint64_t iterations);

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
