// SPDX-License-Identifier: Apache-2.0
// Buffers of messages, filled so that what arrives can be recognised: from whom, of which repetition, all of it.
#pragma once

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/count.hpp"
#include "base/permutation.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "message/message_memory.hpp"
#include "mpi/messages.hpp"
#include "work/phase_work.hpp"

namespace ullage {

inline constexpr std::size_t content_word_bytes = sizeof(std::uint64_t);

/// Odd, so that products with it can be undone; its bits are spread.
inline constexpr std::uint64_t place_step = 0x9e3779b97f4a7c15ULL;
inline constexpr std::uint64_t message_poison = 0xfeedfacedeadbeefULL;
inline constexpr std::size_t most_poison_apart = 512;

constexpr std::uint64_t inverse_of(std::uint64_t odd) {
  std::uint64_t inverse = odd;  // right in 3 bits; each place_step doubles them
  for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
  return inverse;
}

inline constexpr std::uint64_t inverse_place_step = inverse_of(place_step);

inline std::uint64_t content_word(std::span<const std::byte> bytes, std::size_t offset,
                                  std::size_t length = content_word_bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + offset, length);
  return word;
}

inline void put_content_word(std::span<std::byte> bytes, std::size_t offset, std::uint64_t word,
                             std::size_t length = content_word_bytes) {
  std::memcpy(bytes.data() + offset, &word, length);
}

inline std::unexpected<Error> wrong_message(int sender, std::size_t offset, std::string text) {
  Error error = verification_error("receive", "message from rank " + std::to_string(sender), std::move(text));
  error.offset_bytes = offset;
  return fail(std::move(error));
}

/// Each word of 8 bytes of a sender's buffer is a function of key, sender and place, from which the place can be told.
/// Messages below 8 bytes are too short for that: there every word is a function of key and sender alone.
class MessageContents final {
 public:
  /// `key`: differs for every repetition.
  MessageContents(std::uint64_t key, std::size_t message_bytes) : key_(key), message_bytes_(message_bytes) {}

  /// All of the buffer from which rank `sender` sends, a multiple of 8 bytes.
  void fill(std::span<std::byte> buffer, int sender) const {
    std::uint64_t word = first_word(sender);
    const std::uint64_t next = message_bytes_ < content_word_bytes ? 0 : place_step;
    for (std::size_t offset = 0; offset + content_word_bytes <= buffer.size();
         offset += content_word_bytes, word += next)
      put_content_word(buffer, offset, word);
  }

  /// Makes all places at which a message may have arrived recognisably empty.
  void poison(std::span<std::byte> buffer) const {
    const std::size_t apart = std::min(round_up(message_bytes_, content_word_bytes), most_poison_apart);
    for (std::size_t offset = 0; offset < buffer.size(); offset += apart)
      put_content_word(buffer, offset, message_poison, std::min(content_word_bytes, buffer.size() - offset));
  }

  /// Checks whether that is a message of `sender`, from any place of a buffer that begins at a multiple of 8.
  [[nodiscard]] Status check(std::span<const std::byte> message, int sender) const {
    const std::uint64_t base = first_word(sender);
    if (message.size() != message_bytes_) return wrong_message(sender, 0, "it has the wrong length");
    if (message_bytes_ < content_word_bytes) {
      std::uint64_t expected = 0;
      std::memcpy(&expected, &base, message_bytes_);
      if (content_word(message, 0, message_bytes_) != expected)
        return wrong_message(sender, 0, "the bytes differ from those sent");
      return {};
    }
    const std::uint64_t place = (content_word(message, 0) - base) * inverse_place_step;
    // No buffer has so many words: then the first one was not that sender's in this repetition.
    if (place >> 40 != 0) return wrong_message(sender, 0, "it did not arrive, or is of another rank or repetition");
    std::uint64_t word = base + place * place_step;
    std::size_t offset = 0;
    for (; offset + content_word_bytes <= message.size(); offset += content_word_bytes, word += place_step)
      if (content_word(message, offset) != word)
        return wrong_message(sender, offset, "the bytes differ from those sent");
    const std::size_t rest = message.size() - offset;
    if (rest > 0 && content_word(message, offset, rest) != (word & ~(~std::uint64_t{0} << (8 * rest))))
      return wrong_message(sender, offset, "the bytes differ from those sent");
    return {};
  }

  /// The messages that a loop has received last.
  void check_received(const mpi::MessageLoop& loop, Verification& found) const {
    for (const auto& [from, data] : loop.last_received()) {
      found.verified_bytes += data.size();
      const Status right = check(data, from);
      if (right) continue;
      ++found.bad_blocks;
      if (!found.first) found.first = right.error();
    }
  }

 private:
  [[nodiscard]] std::uint64_t first_word(int sender) const noexcept {
    return mix64(key_ ^ mix64(static_cast<std::uint64_t>(sender)));
  }

  std::uint64_t key_;
  std::size_t message_bytes_;
};

/// This many small messages lie one after the other. Large ones fill the caches that are near by themselves, and lie
/// where the one before did: in memory that is as warm as that of a program which sends the same array again.
inline constexpr std::size_t usual_slots = 6;
inline constexpr std::size_t largest_small_bytes = std::size_t{64} << 10;

inline std::size_t slots_room(std::size_t message_bytes, std::size_t at_once) {
  const std::size_t slots = message_bytes <= largest_small_bytes ? usual_slots : 1;
  return std::max(slots, at_once) * round_up(message_bytes, content_word_bytes);
}

/// Holds what one rank sends from and receives into. `out_at_once`, `in_at_once`: messages that are under way at the
/// same time, which lie apart from each other; there is room for some more, so that small messages do not meet the same
/// cache lines again.
class MessageBuffers final {
 public:
  MessageBuffers(std::size_t message_bytes, std::size_t out_at_once, std::size_t in_at_once, Pages pages)
      : pages_(pages),
        out_memory_(slots_room(message_bytes, out_at_once), pages),
        in_memory_(slots_room(message_bytes, in_at_once), pages),
        out_(out_memory_.bytes()),
        in_(in_memory_.bytes()) {}

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

static_assert(place_step * inverse_place_step == 1);

}  // namespace ullage
