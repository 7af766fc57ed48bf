// SPDX-License-Identifier: Apache-2.0
// What stands behind the tags: keyed pseudo-random words, and filler where the data is to be compressible.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/payload_fill.hpp"

namespace ullage {

/// Bodies come in units of 8 blocks of 512 bytes. There is a pool of one unit of pseudo-random words; a block is the
/// pool's with its tag added to each word by exclusive or. The pool's blocks begin with zeros, so what comes to stand
/// there is the tag itself. The same bytes on every CPU.
///
/// Tags never repeat, so no piece of a block is found again in another, however far back a compressor looks: two blocks
/// of the same place in their units differ in every word by the same 64 bits, which are as good as random. And it costs
/// one load, one operation and one store a vector, so that no period is needed to make payload as fast as it can be
/// written to memory.
class PayloadBody final {
 public:
  static constexpr std::size_t unit_bytes = 4096;
  static constexpr std::size_t blocks_a_unit = unit_bytes / PayloadFill::block_bytes;
  using Tags = std::array<std::uint64_t, blocks_a_unit>;

  /// `compress_ratio` as `zstd -1` sees it, tags included; 1: incompressible. Ratios above about 40 cannot be reached,
  /// because the tags themselves do not compress; blocks well below 512 bytes only come near the ratio (steps of 8
  /// bytes). `fill` is for tests: what a CPU has makes no difference to the contents.
  PayloadBody(double compress_ratio, std::uint64_t key, const PayloadFill& fill = widest_payload_fill()) noexcept;

  /// Up to 4 KiB, a multiple of 8, tags included: one for each block that has begun.
  void fill(std::span<std::byte> unit, const Tags& tags) const noexcept;

 private:
  /// Random 8-byte words, after its tag, of the `index`-th block of a unit.
  [[nodiscard]] std::size_t random_words(std::size_t index, std::size_t block_bytes) const noexcept;
  /// Part of the `index`-th block, from its start.
  void fill_words(std::span<std::byte> bytes, std::size_t index, std::uint64_t tag) const noexcept;

  static constexpr std::size_t words_a_block = PayloadFill::block_bytes / sizeof(std::uint64_t);
  alignas(64) std::array<std::uint64_t, words_a_block * blocks_a_unit> pool_{};
  double compress_ratio_;
  std::uint64_t filler_;  // word; keyed, so that it is neither zeros nor another run's
  PayloadFill::Blocks blocks_;
};

}  // namespace ullage
