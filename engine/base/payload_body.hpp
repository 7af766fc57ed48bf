// SPDX-License-Identifier: Apache-2.0
// What stands between the tags: keyed pseudo-random words, and filler where the data is to be compressible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ullage {

/// Bodies come in units of 4 KiB, each a function of its seed alone: the same bytes on every CPU. Xorshift (Marsaglia,
/// J. Stat. Softw. 8 (14), 2003) in 16 independent lanes: as many as it takes to hide the latency of one step in
/// 128-bit vectors, which every 64-bit CPU has, so no dispatch on wider ones is needed.
class PayloadBody final {
 public:
  static constexpr std::size_t unit_bytes = 4096;

  /// `compress_ratio` as `zstd -1` sees it, tags included; 1: incompressible. Ratios above about 40 cannot be reached,
  /// because the tags themselves do not compress; blocks well below 512 bytes only come near the ratio (steps of 8
  /// bytes).
  PayloadBody(double compress_ratio, std::uint64_t filler) noexcept
      : compress_ratio_(compress_ratio), filler_(filler) {}

  /// Up to 4 KiB, a multiple of 8. The first 8 bytes of each 512 are left to the tag, their contents undefined.
  void fill(std::span<std::byte> unit, std::uint64_t seed) const noexcept;

 private:
  /// Random 8-byte words, after its tag, of the `index`-th block of a unit.
  [[nodiscard]] std::size_t random_words(std::size_t index, std::size_t block_bytes) const noexcept;
  double compress_ratio_;
  std::uint64_t filler_;  // word; keyed, so that it is neither zeros nor another run's
};

}  // namespace ullage
