// SPDX-License-Identifier: Apache-2.0
// Buffers of messages, filled so that what arrives can be recognised: from whom, of which repetition, all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

#include "base/result.hpp"
#include "message/message_memory.hpp"
#include "mpi/messages.hpp"
#include "work/phase_work.hpp"

namespace ullage {

/// Each word of 8 bytes of a sender's buffer is a function of key, sender and place, from which the place can be told.
/// Messages below 8 bytes are too short for that: there every word is a function of key and sender alone.
class MessageContents final {
 public:
  /// `key`: differs for every repetition.
  MessageContents(std::uint64_t key, std::size_t message_bytes) : key_(key), message_bytes_(message_bytes) {}

  /// All of the buffer from which rank `sender` sends, a multiple of 8 bytes.
  void fill(std::span<std::byte> buffer, int sender) const;
  /// Makes all places at which a message may have arrived recognisably empty.
  void poison(std::span<std::byte> buffer) const;
  /// Checks whether that is a message of `sender`, from any place of a buffer that begins at a multiple of 8.
  [[nodiscard]] Status check(std::span<const std::byte> message, int sender) const;
  /// The messages that a loop has received last.
  void check_received(const mpi::MessageLoop& loop, Verification& found) const;

 private:
  [[nodiscard]] std::uint64_t first_word(int sender) const noexcept;

  std::uint64_t key_;
  std::size_t message_bytes_;
};

/// Holds what one rank sends from and receives into. `out_at_once`, `in_at_once`: messages that are under way at the
/// same time, which lie apart from each other; there is room for some more, so that small messages do not meet the same
/// cache lines again.
class MessageBuffers final {
 public:
  MessageBuffers(std::size_t message_bytes, std::size_t out_at_once, std::size_t in_at_once, Pages pages);

  [[nodiscard]] mpi::RotatingBuffer& out() noexcept { return out_; }
  [[nodiscard]] mpi::RotatingBuffer& in() noexcept { return in_; }
  /// The fact `pages`.
  [[nodiscard]] nlohmann::json pages() const { return pages_json(pages_, out_memory_, in_memory_); }

 private:
  Pages pages_;
  MessageMemory out_memory_;
  MessageMemory in_memory_;
  mpi::RotatingBuffer out_;
  mpi::RotatingBuffer in_;
};

}  // namespace ullage
