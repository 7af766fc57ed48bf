// SPDX-License-Identifier: Apache-2.0
// The words of workload `overlap`, and the order of its stretches.
#pragma once

#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

// Which stretch comes next, and which bytes of a rank's file it moves. Pure.

/// Says what a rank does between two readings of the clock. `warm_up` is an `io` that nobody counts: the first because
/// files and caches are cold, the second to see how long the computation has to be.
enum class Stretch : std::uint8_t { warm_up, io, compute, both, blocking };

/// Warm-ups, then rounds of four stretches. Each stretch but `compute` moves an area of the file, which no other moves:
/// `batches` times `depth` transfers that are begun together. The four come in each round in another order, so that in
/// four rounds each stands once in each place, and once behind each other one (a Latin square of Williams, 1949).
struct OverlapShape {
  std::uint64_t transfer_bytes = 1 << 20;
  std::uint64_t depth = 4;
  std::uint64_t batches = 4;
  std::uint64_t rounds = 4;

  static constexpr std::uint64_t warm_ups = 2;
  static constexpr std::uint64_t kinds = 4;
  static constexpr std::uint64_t areas_a_round = kinds - 1;

  [[nodiscard]] std::uint64_t stretches() const noexcept { return warm_ups + kinds * rounds; }
  [[nodiscard]] std::uint64_t areas() const noexcept { return warm_ups + areas_a_round * rounds; }
  [[nodiscard]] std::uint64_t transfers() const noexcept { return batches * depth; }
  [[nodiscard]] std::uint64_t area_bytes() const noexcept { return transfers() * transfer_bytes; }
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return areas() * area_bytes(); }

  [[nodiscard]] Stretch stretch(std::uint64_t index) const noexcept {
    return index < warm_ups ? Stretch::warm_up : at_place((index - warm_ups) / kinds, (index - warm_ups) % kinds);
  }
  /// The area of a stretch that has one: in the order of time.
  [[nodiscard]] std::uint64_t area(std::uint64_t index) const noexcept {
    if (index < warm_ups) return index;
    const std::uint64_t round = (index - warm_ups) / kinds;
    std::uint64_t area = warm_ups + areas_a_round * round;
    for (std::uint64_t place = 0; place < (index - warm_ups) % kinds; ++place)
      if (at_place(round, place) != Stretch::compute) ++area;
    return area;
  }
  /// Returns where a transfer of an area begins; `transfer` < transfers().
  [[nodiscard]] std::uint64_t offset_bytes(std::uint64_t area, std::uint64_t transfer) const noexcept {
    return area * area_bytes() + transfer * transfer_bytes;
  }

 private:
  [[nodiscard]] static Stretch at_place(std::uint64_t round, std::uint64_t place) noexcept {
    constexpr std::array<std::uint64_t, kinds> first_round{0, 1, 3, 2};
    constexpr std::array<Stretch, kinds> of{Stretch::io, Stretch::compute, Stretch::both, Stretch::blocking};
    return of[(first_round[place] + round) % kinds];
  }
};

enum class OverlapMethod { threads, nonblocking };

struct OverlapParameters {
  OverlapMethod method = OverlapMethod::threads;
  std::uint64_t transfer_bytes = std::uint64_t{1} << 20;
  std::uint64_t depth = 4;
  std::uint64_t batches = 4;
  std::uint64_t rounds = 4;
  std::uint64_t tests = 0;
  double computation = 1;
  std::uint64_t blocks = 0;
  bool read = true;
  bool sync = true;
  DropCache cache = DropCache::none;
  Verify verify = Verify::full;

  static constexpr std::uint64_t most_helpers = 64;
  static constexpr std::uint64_t most_depth = 1024;

  [[nodiscard]] static Table<OverlapParameters> table();
  [[nodiscard]] OverlapShape shape() const { return {transfer_bytes, depth, batches, rounds}; }
};

/// Rules that span parameters and the backend; the pointer is that of the parameters object.
[[nodiscard]] Status check_overlap(const OverlapParameters& parameters, const Capabilities& capabilities,
                                   const std::string& pointer);
[[nodiscard]] Needs needs_of_overlap(const OverlapParameters& parameters, const PlannedLayout& layout);

}  // namespace ullage
