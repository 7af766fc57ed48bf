// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "memory/pages.hpp"
#include "memory/place.hpp"
#include "memory/stream/choice.hpp"

namespace ullage {

enum class BlockOrder { sequential, random };

struct StreamParameters : WindowParameters, MemoryPlace {
  StreamKind kind = StreamKind::triad;
  Stores stores = Stores::ordinary;
  std::uint64_t working_set_bytes = std::uint64_t{64} << 20U;
  BlockOrder order = BlockOrder::sequential;
  std::uint64_t block_bytes = 0;
  std::uint64_t vector_bytes = 0;

  [[nodiscard]] static Table<StreamParameters> table();

  /// The size of one array of one thread: whole blocks, or whole lines where there is one block.
  [[nodiscard]] std::uint64_t array_bytes() const;
  /// Returns the bytes from one array of a thread to its next: large ones are set apart by some lines, since arrays
  /// that begin alike meet in the same sets of caches and banks of memory (a third of the rate was seen).
  [[nodiscard]] std::uint64_t array_stride() const;
  [[nodiscard]] std::uint64_t block() const { return block_bytes > 0 ? block_bytes : array_bytes(); }
  /// Returns how many blocks each array of one thread has. An order has 32 bits for each.
  [[nodiscard]] std::uint64_t blocks() const { return array_bytes() / block(); }
};

/// `pointer` is that of the parameters object.
[[nodiscard]] Status check_stream(const StreamParameters& parameters, const std::string& pointer);

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
