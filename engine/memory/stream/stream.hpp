// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>

#include "base/parameters.hpp"
#include "base/permutation.hpp"
#include "base/resources.hpp"
#include "base/std.hpp"
#include "memory/pages.hpp"
#include "memory/place.hpp"
#include "memory/stream/choice.hpp"
#include "work/entry.hpp"

namespace ullage {

enum class BlockOrder { sequential, random };

/// And below: together they may just fill a first-level cache.
inline constexpr std::uint64_t small_array = std::uint64_t{32} << 10U;
inline constexpr std::uint64_t large_array = std::uint64_t{1} << 20U;
inline constexpr std::uint64_t lines_between = 17;         // odd: no two sizes of caches or banks divide it
inline constexpr std::uint64_t lines_between_large = 529;  // beyond a row of memory, too

struct StreamParameters : WindowParameters, MemoryPlace {
  StreamKind kind = StreamKind::triad;
  Stores stores = Stores::ordinary;
  std::uint64_t working_set_bytes = std::uint64_t{64} << 20U;
  BlockOrder order = BlockOrder::sequential;
  std::uint64_t block_bytes = 0;
  std::uint64_t vector_bytes = 0;

  [[nodiscard]] static Table<StreamParameters> table();

  /// The size of one array of one thread: whole blocks, or whole lines where there is one block.
  [[nodiscard]] std::uint64_t array_bytes() const {
    const std::uint64_t unit = block_bytes > 0 ? block_bytes : stream_line;
    return working_set_bytes / (static_cast<std::uint64_t>(threads) * arrays_of(kind)) / unit * unit;
  }

  /// Returns the bytes from one array of a thread to its next: large ones are set apart by some lines, since arrays
  /// that begin alike meet in the same sets of caches and banks of memory (a third of the rate was seen).
  [[nodiscard]] std::uint64_t array_stride() const {
    if (array_bytes() < small_array) return array_bytes();
    return array_bytes() + stream_line * (array_bytes() < large_array ? lines_between : lines_between_large);
  }

  [[nodiscard]] std::uint64_t block() const { return block_bytes > 0 ? block_bytes : array_bytes(); }
  /// Returns how many blocks each array of one thread has. An order has 32 bits for each.
  [[nodiscard]] std::uint64_t blocks() const { return array_bytes() / block(); }
};

/// `pointer` is that of the parameters object.
[[nodiscard]] Status check_stream(const StreamParameters& parameters, const std::string& pointer);

/// A permutation of the numbers below `count`.
[[nodiscard]] std::vector<std::uint32_t> block_order(std::uint64_t count, std::uint64_t seed);

inline constexpr std::size_t stream_element = sizeof(double);

inline double* elements(std::byte* bytes) { return reinterpret_cast<double*>(bytes); }

inline Error wrong(std::size_t thread, const std::string& what, std::string expected, std::string found) {
  const std::string text = what + " is " + found + ", should be " + expected;
  return verification_error("check", "memory of thread " + std::to_string(thread), text, std::move(expected),
                            std::move(found));
}

/// Streams through arrays that each thread has for itself; a pass visits all of them once.
class StreamKernel final : public WindowedKernel {
 public:
  /// `ready` is what make_ready() returns when something was wrong before. `ranks_on_node` share its memory.
  StreamKernel(const StreamParameters& parameters, std::uint64_t seed, int ranks_on_node, Status ready)
      : parameters_(parameters),
        seed_(seed),
        ready_(std::move(ready)),
        shares_(static_cast<std::size_t>(parameters.threads)) {
    const auto ranks = static_cast<std::uint64_t>(ranks_on_node);
    if (ready_) ready_ = check_room("working_set_bytes", Count(parameters.working_set_bytes) * ranks);
  }

  [[nodiscard]] Status make_ready(std::size_t thread) override {
    if (!ready_) return ready_;
    auto region = Region::map(parameters_.array_stride() * arrays_of(parameters_.kind), parameters_.pages,
                              parameters_.memory_node);
    if (!region) return fail(region.error());
    Share& share = shares_[thread];
    share.region = std::move(*region);
    if (auto touched = share.region->touch(share.region->bytes()); !touched) return touched;
    lay_out(share);
    const auto candidates = stream_candidates(parameters_.kind, parameters_.stores, parameters_.vector_bytes);
    share.loops = &fastest_of(candidates, parameters_.kind, parameters_.stores, share.job);
    share.loop = share.loops->loop(parameters_.kind, parameters_.stores);
    if (parameters_.order == BlockOrder::random) {
      share.order = block_order(parameters_.blocks(), mix64(seed_ + thread));
      share.job.order = share.order.data();
    }
    fill(share);
    return {};
  }

  void run(std::size_t thread, std::uint64_t passes) override {
    Share& share = shares_[thread];
    share.job.passes = passes;
    share.sum += share.loop(share.job);
    share.job.first_pass += passes;
  }

  /// Compares the sum of everything read, or every element written, with what that many passes lead to.
  [[nodiscard]] Status check() override {
    for (std::size_t thread = 0; thread < shares_.size(); ++thread)
      if (auto right = check_share(thread); !right) return right;
    return {};
  }

  [[nodiscard]] std::uint64_t bytes_a_pass() const override {
    return all_arrays() * application_arrays(parameters_.kind);
  }

  void report(const WindowTotals& totals, Gauges& gauges) const override {
    const double array_passes = static_cast<double>(totals.passes) * static_cast<double>(all_arrays());
    gauges["application_bytes"] = array_passes * static_cast<double>(application_arrays(parameters_.kind));
    gauges["bus_bytes"] = array_passes * static_cast<double>(bus_arrays(parameters_.kind, parameters_.stores));
    gauges["used_bytes"] = static_cast<double>(all_arrays() * arrays_of(parameters_.kind));
    std::uint64_t huge = 0;
    for (const Share& share : shares_)
      if (share.region) huge += share.region->huge_bytes();
    gauges["huge_bytes"] = static_cast<double>(huge);
    gauges["vector_bytes"] = shares_[0].loops != nullptr ? static_cast<double>(shares_[0].loops->vector_bytes) : 0;
  }

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

  /// Bytes of an array, that of all threads together.
  [[nodiscard]] std::uint64_t all_arrays() const { return parameters_.array_bytes() * shares_.size(); }

  /// Arrays that a kind does not have are never looked at.
  void lay_out(Share& share) const {
    const std::size_t arrays = arrays_of(parameters_.kind);
    const std::uint64_t stride = parameters_.array_stride();
    std::byte* const memory = share.region->bytes().data();
    share.job = {.a = memory,
                 .b = arrays == 1 ? memory : memory + stride,
                 .c = memory + (arrays - 1) * stride,
                 .block_bytes = parameters_.block(),
                 .blocks = parameters_.blocks()};
  }

  void fill(Share& share) const {
    const std::uint64_t count = parameters_.array_bytes() / stream_element;
    double* const first = elements(share.region->bytes().data());
    switch (arrays_of(parameters_.kind)) {
      case 3: {
        double* const c = first + 2 * parameters_.array_stride() / stream_element;
        for (std::uint64_t i = 0; i < count; ++i) c[i] = stream_value(2, i);
        [[fallthrough]];
      }
      case 2: {
        double* const b = first + parameters_.array_stride() / stream_element;
        for (std::uint64_t i = 0; i < count; ++i) b[i] = stream_value(1, i);
        break;
      }
      default:
        for (std::uint64_t i = 0; i < count; ++i) {
          first[i] = stream_value(0, i);
          share.sum_a_pass += std::bit_cast<std::uint64_t>(stream_value(0, i));
        }
    }
  }

  [[nodiscard]] Status check_share(std::size_t thread) const {
    const Share& share = shares_[thread];
    const std::uint64_t passes = share.job.first_pass;
    if (parameters_.kind == StreamKind::read) {
      const std::uint64_t right = share.sum_a_pass * passes;
      if (share.sum == right) return {};
      return fail(wrong(thread, "the sum of what was read", std::to_string(right), std::to_string(share.sum)));
    }
    const double* const a = elements(share.job.a);
    for (std::uint64_t i = 0; i < parameters_.array_bytes() / stream_element; ++i) {
      const double right = stream_result(parameters_.kind, i, passes);
      if (std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(right))
        return fail(wrong(thread, "element " + std::to_string(i), std::to_string(right), std::to_string(a[i])));
    }
    return {};
  }

  StreamParameters parameters_;
  std::uint64_t seed_;
  Status ready_;
  std::vector<Share> shares_;
};

}  // namespace ullage
