// SPDX-License-Identifier: Apache-2.0
// What the calls of one pattern move: contents that can be recognised, in a few buffers that calls use in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/aligned_buffer.hpp"
#include "base/payload.hpp"

namespace ullage {

/// Says what one rank's calls carry. Generation 1 is the first write's, 2 a rewrite's.
struct BEffIoContents {
  std::uint64_t key = 0;  // of the dataset
  int pattern = 0;
  std::uint64_t call_bytes = 0;
  std::uint64_t writer = 0;
  std::uint64_t rewritten = 0;          // calls below this are of generation 2
  std::uint64_t rewritten_by_some = 0;  // those from there to here of either
};

/// Has as many buffers as make 256 KiB, at least one: they stay in a core's cache, as one's own data often is. They are
/// filled before the timer, and again before each call that is not the first to use one. Calls come one after the
/// other.
class BEffIoBuffers final {
 public:
  /// Grows `memory`, which lives longer.
  BEffIoBuffers(AlignedBuffer& memory, const BEffIoContents& contents);
  BEffIoBuffers(const BEffIoBuffers&) = delete;
  BEffIoBuffers& operator=(const BEffIoBuffers&) = delete;

  /// Before the first call: contents of the generation to be written.
  void fill(int generation);
  /// Before the first call: buffers that nothing was read into.
  void poison();

  /// The next call's buffer, to be written from.
  [[nodiscard]] std::span<std::byte> next_to_write();
  /// The next call's buffer, to be read into, as it was left.
  [[nodiscard]] std::span<std::byte> next_to_read() {
    advance();
    return current();
  }
  /// Looks at what the last call read, and leaves its buffer as poison() does. Offsets count from the call's first
  /// byte.
  [[nodiscard]] Payload::Check check();
  /// Number of the last call.
  [[nodiscard]] std::uint64_t call() const { return lap_ * ring_ + slot_; }
  [[nodiscard]] std::size_t count() const { return ring_; }
  [[nodiscard]] std::uint64_t call_bytes() const { return contents_.call_bytes; }

 private:
  void advance() {
    if (++slot_ < ring_) return;
    slot_ = 0;
    ++lap_;
  }
  [[nodiscard]] std::span<std::byte> slot(std::size_t index) {
    return memory_.bytes().subspan(index * slot_bytes_, static_cast<std::size_t>(contents_.call_bytes));
  }
  [[nodiscard]] std::span<std::byte> current() { return slot(slot_); }
  /// Counts as the payload counts: the calls of a rank behind each other.
  [[nodiscard]] std::uint64_t offset_bytes() const { return call() * contents_.call_bytes; }

  AlignedBuffer& memory_;
  BEffIoContents contents_;
  Payload first_;
  Payload second_;
  const Payload* written_ = &first_;
  std::size_t ring_;
  std::size_t slot_bytes_;
  std::size_t slot_;  // of the last call; before the first one the last slot of lap -1
  std::uint64_t lap_ = ~std::uint64_t{0};
};

}  // namespace ullage
