// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ullage {

/// Tells what the numbers of a stream of datagrams say that arrive: which are missing, came twice or too late, and how
/// evenly they come. One addition a datagram, constant memory.
class SequenceAccount final {
 public:
  /// Datagrams further back than this count as late, never as duplicates.
  static constexpr std::uint64_t remembered = 1 << 16;

  struct Totals {
    std::uint64_t received = 0;    // all that came, duplicates too
    std::uint64_t duplicates = 0;  // came before
    std::uint64_t reordered = 0;   // came after one with a higher number
    std::uint64_t next = 0;        // one more than the highest number

    /// Returns how many of the numbers sent between `before` and this did not come.
    [[nodiscard]] std::uint64_t lost_since(const Totals& before) const;
    [[nodiscard]] std::uint64_t expected_since(const Totals& before) const { return next - before.next; }
  };

  void add(std::uint64_t number) noexcept {
    ++totals_.received;
    if (number == totals_.next) [[likely]] {
      set(number);
      ++totals_.next;
      return;
    }
    add_out_of_turn(number);
  }

  /// Interarrival jitter by RFC 3550, 6.4.1, between calls that received: the clocks' offset cancels out.
  void arrived(std::int64_t sent_ns, std::int64_t received_ns) noexcept;

  [[nodiscard]] const Totals& totals() const noexcept { return totals_; }
  [[nodiscard]] double jitter_ns() const noexcept { return jitter_ns_; }

 private:
  void add_out_of_turn(std::uint64_t number) noexcept;
  void set(std::uint64_t number) noexcept { seen_[number % remembered / 64] |= std::uint64_t{1} << (number % 64); }
  void clear(std::uint64_t number) noexcept { seen_[number % remembered / 64] &= ~(std::uint64_t{1} << (number % 64)); }
  [[nodiscard]] bool has(std::uint64_t number) const noexcept {
    return (seen_[number % remembered / 64] >> (number % 64) & 1) != 0;
  }

  Totals totals_;
  // Bit of each number in [next - remembered, next). In-turn numbers only ever set theirs: clearing is not needed then.
  std::array<std::uint64_t, remembered / 64> seen_{};
  std::int64_t last_transit_ns_ = 0;
  bool has_transit_ = false;
  double jitter_ns_ = 0;
};

}  // namespace ullage
