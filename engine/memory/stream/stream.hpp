// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "memory/stream/parameters.hpp"

namespace ullage {

/// A permutation of the numbers below `count`.
[[nodiscard]] std::vector<std::uint32_t> block_order(std::uint64_t count, std::uint64_t seed);

/// Streams through arrays that each thread has for itself; a pass visits all of them once.
class StreamKernel final : public WindowedKernel {
 public:
  /// `ready` is what make_ready() returns when something was wrong before. `ranks_on_node` share its memory.
  StreamKernel(const StreamParameters& parameters, std::uint64_t seed, int ranks_on_node, Status ready);

  [[nodiscard]] Status make_ready(std::size_t thread) override;
  void run(std::size_t thread, std::uint64_t passes) override;
  /// Compares the sum of everything read, or every element written, with what that many passes lead to.
  [[nodiscard]] Status check() override;
  [[nodiscard]] std::uint64_t bytes_a_pass() const override;
  void report(const WindowTotals& totals, Gauges& gauges) const override;

  /// The memory of a thread that is ready: its arrays one after the other.
  [[nodiscard]] std::span<std::byte> memory(std::size_t thread) const { return shares_[thread].region->bytes(); }

 private:
  struct alignas(128) Share {  // apart, since each is written by its own thread
    std::optional<Region> region;
    std::vector<std::uint32_t> order;
    StreamJob job;
    const StreamLoops* loops = nullptr;
    StreamLoop loop = nullptr;
    std::uint64_t sum_a_pass = 0;
    std::uint64_t sum = 0;
  };

  [[nodiscard]] std::uint64_t all_arrays() const;
  void lay_out(Share& share) const;
  void fill(Share& share) const;
  [[nodiscard]] Status check_share(std::size_t thread) const;

  StreamParameters parameters_;
  std::uint64_t seed_;
  Status ready_;
  std::vector<Share> shares_;
};

}  // namespace ullage
