// SPDX-License-Identifier: Apache-2.0
// The words of workload `stepfile`.
#pragma once

#include <cstring>
#include <expected>

#include "base/count.hpp"
#include "base/permutation.hpp"
#include "storage/step_shape.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "storage/workloads/stepfile/revolve.hpp"

namespace ullage {

// Where each state of a log lies in it: written behind the last state, read before the first one is needed. Pure.

inline constexpr std::size_t log_word_bytes = sizeof(std::uint64_t);

inline std::uint64_t word_at(std::span<const std::byte> place, std::uint64_t number) {
  std::uint64_t word = 0;
  std::memcpy(&word, place.data() + number * log_word_bytes, log_word_bytes);
  return word;
}

inline void put_word(std::span<std::byte> place, std::uint64_t number, std::uint64_t word) {
  std::memcpy(place.data() + number * log_word_bytes, &word, log_word_bytes);
}

/// Sums up the first `words` words, in their order.
inline std::uint64_t checksum_of(std::span<const std::byte> place, std::uint64_t words) {
  std::uint64_t sum = words;
  for (std::uint64_t i = 0; i < words; ++i) sum = mix64(sum ^ word_at(place, i));
  return sum;
}

/// A count, an offset for each step and a checksum, in words of 8 bytes of this machine's order.
class LogIndex final {
 public:
  explicit LogIndex(std::uint64_t steps) : offsets_(steps, absent) {}

  void put(std::uint64_t step, std::uint64_t offset_bytes) { offsets_[step] = offset_bytes; }
  [[nodiscard]] bool has(std::uint64_t step) const { return step < offsets_.size() && offsets_[step] != absent; }
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t step) const { return offsets_[step]; }

  /// A multiple of `alignment`.
  [[nodiscard]] static std::size_t bytes(std::uint64_t steps, std::size_t alignment) {
    return round_up(static_cast<std::size_t>(steps + 2) * log_word_bytes, alignment);
  }

  /// `place` holds at least bytes(steps, 1); what is left of it becomes zeros.
  void encode(std::span<std::byte> place) const {
    std::ranges::fill(place, std::byte{0});
    put_word(place, 0, offsets_.size());
    for (std::size_t i = 0; i < offsets_.size(); ++i) put_word(place, i + 1, offsets_[i]);
    put_word(place, offsets_.size() + 1, checksum_of(place, offsets_.size() + 1));
  }

  /// The error is a clause that says what is wrong.
  [[nodiscard]] static std::expected<LogIndex, std::string> decode(std::span<const std::byte> place,
                                                                   std::uint64_t steps) {
    if (place.size() < bytes(steps, 1)) return std::unexpected("the index is cut short");
    const std::uint64_t found = word_at(place, 0);
    if (found != steps)
      return std::unexpected("the index is of " + std::to_string(found) + " steps, must be of " +
                             std::to_string(steps));
    if (word_at(place, steps + 1) != checksum_of(place, steps + 1))
      return std::unexpected("the index does not match its checksum");
    LogIndex index(steps);
    for (std::uint64_t i = 0; i < steps; ++i) index.put(i, word_at(place, i + 1));
    return index;
  }

 private:
  static constexpr std::uint64_t absent = ~std::uint64_t{0};
  std::vector<std::uint64_t> offsets_;
};

enum class StepSync { none, close, fsync, every };

struct StepfileParameters {
  std::uint64_t steps = 100;
  std::uint64_t state_bytes = std::uint64_t{4} << 20;
  StepOrderKind order = StepOrderKind::reverse;
  std::uint64_t stride = 2;
  std::uint64_t checkpoints = 10;
  StepLayout layout = StepLayout::dir_per_rank;
  std::uint64_t hash_levels = 2;
  double compute_s = 0;
  double jitter = 0;
  double imbalance = 0;
  std::uint64_t write_behind = 0;
  std::uint64_t prefetch = 0;
  StepSync sync = StepSync::none;
  std::uint64_t sync_every = 16;
  bool remove_read = false;
  DropCache cache = DropCache::none;
  Verify verify = Verify::full;

  static constexpr std::uint64_t most_depth = 1024;

  [[nodiscard]] static Table<StepfileParameters> table();

  [[nodiscard]] bool revolves() const { return order == StepOrderKind::revolve; }
  [[nodiscard]] bool in_log() const { return layout == StepLayout::log; }
  /// States of a rank that have a file, or a place in the log.
  [[nodiscard]] std::uint64_t kept() const { return revolves() ? std::min(checkpoints, steps) : steps; }
  [[nodiscard]] StepShape shape(std::uint64_t ranks) const { return {ranks, kept(), layout, hash_levels}; }
};

/// Rules that span parameters, the backend and the layout; the pointer is that of the parameters object.
[[nodiscard]] Status check_stepfile(const StepfileParameters& parameters, const Capabilities& capabilities,
                                    const std::string& pointer);
[[nodiscard]] Needs needs_of_stepfile(const StepfileParameters& parameters, const PlannedLayout& layout);

}  // namespace ullage
