// SPDX-License-Identifier: Apache-2.0
// Loops that stream through memory: which there are, what they count and what they leave behind.
#pragma once

#include <bit>

#include "base/registry.hpp"
#include "base/std.hpp"

namespace ullage {

/// Over arrays a (written), b and c of 64-bit elements; s differs from pass to pass:
/// read: sum of all b · write: a = s · copy: a = b · scale: a = s*b · add: a = b + c · triad: a = b + s*c · read-write:
/// a = a + 1, in integers. Copy to triad are the four of McCalpin's STREAM.
enum class StreamKind { read, write, copy, scale, add, triad, read_write };
inline constexpr std::size_t stream_kinds = 7;

/// ordinary: a line that is not in a cache is read before it is written (write-allocate). non_temporal: lines go to
/// memory past the caches.
enum class Stores { ordinary, non_temporal };
inline constexpr std::size_t store_kinds = 2;

/// One thread's work.
struct StreamJob {
  std::byte* a = nullptr;
  const std::byte* b = nullptr;
  const std::byte* c = nullptr;
  std::size_t block_bytes = 0;           // a multiple of stream_line
  std::size_t blocks = 0;                // of each array
  const std::uint32_t* order = nullptr;  // of the blocks; null: as they lie
  std::uint64_t first_pass = 0;          // number of the first one
  std::uint64_t passes = 0;
  std::uint64_t pause = 0;  // steps of about a cycle each after every block
};

/// Pieces that blocks are made of.
inline constexpr std::size_t stream_line = 64;

/// The sum of what was read, modulo 2^64; 0 for all other kinds. Stores are complete when it returns.
using StreamLoop = std::uint64_t (*)(const StreamJob&);

/// The loops of one instruction set. A null loop: the instruction set has no such stores.
struct StreamLoops {
  std::string_view instruction_set;
  std::size_t vector_bytes = 0;
  std::array<std::array<StreamLoop, store_kinds>, stream_kinds> loops{};
  [[nodiscard]] StreamLoop loop(StreamKind kind, Stores stores) const {
    return loops.at(static_cast<std::size_t>(kind)).at(static_cast<std::size_t>(stores));
  }
};

/// Is what a file of loops registers.
struct StreamLoopsEntry {
  Description description;
  const StreamLoops* (*loops)() = nullptr;  // null where the CPU or the system does not have the instructions
};
/// All that run here, the widest first. Complete when main() begins.
[[nodiscard]] std::span<const StreamLoops* const> stream_loops_here();

/// Returns how many arrays a kind has; a is written, b and c are read.
[[nodiscard]] constexpr std::size_t arrays_of(StreamKind kind) {
  switch (kind) {
    case StreamKind::read:
    case StreamKind::write:
    case StreamKind::read_write:
      return 1;
    case StreamKind::copy:
    case StreamKind::scale:
      return 2;
    case StreamKind::add:
    case StreamKind::triad:
      return 3;
  }
  return 0;
}

[[nodiscard]] constexpr bool writes(StreamKind kind) { return kind != StreamKind::read; }

/// Times an array that a pass moves: as STREAM counts, every element read and every element written once.
[[nodiscard]] constexpr std::uint64_t application_arrays(StreamKind kind) {
  return arrays_of(kind) + (kind == StreamKind::read_write ? 1 : 0);
}

/// Returns the same as the memory sees it when the arrays are not in a cache: with ordinary stores the written array is
/// also read, unless the kind itself reads it (Hager, Wellein: write-allocate).
[[nodiscard]] constexpr std::uint64_t bus_arrays(StreamKind kind, Stores stores) {
  const bool allocates = stores == Stores::ordinary && writes(kind) && kind != StreamKind::read_write;
  return application_arrays(kind) + (allocates ? 1 : 0);
}

/// s of a pass: small whole numbers, so that no result is rounded.
[[nodiscard]] constexpr double stream_factor(std::uint64_t pass) { return 2.0 + static_cast<double>(pass % 6); }

/// Returns what element `index` of array b (`array` 1) or c (2), and of a (0) where it is read, holds at the beginning:
/// 1 plus a scattered fraction of 20 bits, so that sums and products with a factor are exact.
[[nodiscard]] constexpr double stream_value(std::size_t array, std::uint64_t index) {
  const std::uint64_t scattered = (index * 4 + array) * 0x9e3779b97f4a7c15ULL;
  return 1.0 + static_cast<double>(static_cast<std::uint32_t>(scattered >> 44U)) * 0x1p-20;
}

/// Returns what element `index` of array a holds after `passes` >= 1 of them. Not for read.
[[nodiscard]] constexpr double stream_result(StreamKind kind, std::uint64_t index, std::uint64_t passes) {
  const double b = stream_value(1, index);
  const double c = stream_value(2, index);
  const double s = stream_factor(passes - 1);
  switch (kind) {
    case StreamKind::write:
      return s;
    case StreamKind::scale:
      return s * b;
    case StreamKind::add:
      return b + c;
    case StreamKind::triad:
      return b + s * c;
    case StreamKind::read_write:
      return std::bit_cast<double>(std::bit_cast<std::uint64_t>(stream_value(0, index)) + passes);
    case StreamKind::read:
    case StreamKind::copy:
      break;
  }
  return b;
}

}  // namespace ullage
