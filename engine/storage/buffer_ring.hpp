// SPDX-License-Identifier: Apache-2.0
// Buffers of one size that operations use in turn, in memory that is kept between cases.
#pragma once

#include "base/aligned_buffer.hpp"
#include "base/count.hpp"
#include "base/payload.hpp"
#include "base/std.hpp"

namespace ullage {

/// Bytes of buffers that a core's own cache keeps: data is made and written, or read and checked, without its memory.
inline constexpr std::uint64_t cached_bytes = std::uint64_t{256} << 10;

class BufferRing final {
 public:
  /// Each buffer has `bytes`, and begins at a multiple of `alignment`. There are none yet. `memory` lives longer.
  BufferRing(AlignedBuffer& memory, std::uint64_t bytes, std::size_t alignment = buffer_alignment)
      : memory_(&memory), bytes_(static_cast<std::size_t>(bytes)), distance_(round_up(bytes_, alignment)) {}

  /// Returns how many of them `memory_bytes` have room for: one at least, and at most `most`, which is not 0.
  [[nodiscard]] std::uint64_t count_in(std::uint64_t memory_bytes,
                                       std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const {
    return std::clamp<std::uint64_t>(memory_bytes / distance_, 1, most);
  }
  /// Makes so many of them, with `more_bytes` behind the last. The memory grows where it is too small.
  void allocate(std::uint64_t count, std::size_t more_bytes = 0) {
    count_ = static_cast<std::size_t>(count);
    const std::size_t needed = count_ * distance_ + more_bytes;
    if (memory_->size() < needed) *memory_ = AlignedBuffer(needed);
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::size_t distance_bytes() const { return distance_; }
  /// The buffer of an operation, which it shares with those count() before and after it.
  [[nodiscard]] std::span<std::byte> operator[](std::uint64_t operation) const {
    return memory_->bytes().subspan(static_cast<std::size_t>(operation % count_) * distance_, bytes_);
  }
  /// The memory behind the last buffer.
  [[nodiscard]] std::span<std::byte> behind() const { return memory_->bytes().subspan(count_ * distance_); }
  /// Makes all of them buffers that nothing was read into.
  void poison() const {
    for (std::size_t i = 0; i < count_; ++i) Payload::poison((*this)[i]);
  }

 private:
  AlignedBuffer* memory_;
  std::size_t bytes_;
  std::size_t distance_;
  std::size_t count_ = 0;
};

}  // namespace ullage
