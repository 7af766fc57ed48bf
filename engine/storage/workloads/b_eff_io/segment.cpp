// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/b_eff_io/segment.hpp"

#include <algorithm>

#include "base/rounding.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t boundary_bytes = 1 << 20;

std::optional<std::uint64_t> count_in(const std::optional<BEffIoCounts>& counts, BEffIoSize size) {
  if (!counts) return std::nullopt;
  const auto found = counts->find(size);
  return found == counts->end() ? std::nullopt : std::optional(found->second);
}

void keep_least(std::optional<std::uint64_t>& least, std::optional<std::uint64_t> count) {
  if (count) least = std::min(least.value_or(*count), *count);
}

std::uint64_t count_of(BEffIoSize size, std::uint64_t lmax_bytes, const BEffIoFirstWrites& made) {
  const BEffIoPattern scattered = *b_eff_io_pattern(BEffIoType::scatter, size);
  const std::uint64_t chunks = scattered.call_bytes(lmax_bytes) / scattered.chunk_bytes(lmax_bytes);
  const auto scatter = count_in(made.scatter, size);
  const auto shared = count_in(made.shared, size);
  std::optional<std::uint64_t> least;
  keep_least(least, scatter ? std::optional(*scatter * chunks) : std::nullopt);
  keep_least(least, shared ? std::optional(*shared * 10) : std::nullopt);
  keep_least(least, count_in(made.separated, size));
  return least.value_or(0);
}

}  // namespace

BEffIoSegment b_eff_io_segment(std::uint64_t lmax_bytes, const BEffIoFirstWrites& made, const BEffIoCounts& most) {
  BEffIoSegment segment;
  segment.counts[BEffIoSize::first] = 1;
  std::uint64_t taken = b_eff_io_pattern(BEffIoType::segmented, BEffIoSize::first)->chunk_bytes(lmax_bytes);
  for (const BEffIoSize size : b_eff_io_counted_sizes) {
    const auto limit = most.find(size);
    std::uint64_t count = count_of(size, lmax_bytes, made);
    if (limit != most.end()) count = std::min(count, limit->second);
    segment.counts[size] = count;
    taken += count * b_eff_io_pattern(BEffIoType::segmented, size)->chunk_bytes(lmax_bytes);
  }
  segment.bytes = round_up(taken, boundary_bytes);
  segment.fill_up_bytes = segment.bytes - taken;
  segment.counts[BEffIoSize::fill_up] = segment.fill_up_bytes > 0 ? 1 : 0;
  return segment;
}

}  // namespace ullage
