// SPDX-License-Identifier: Apache-2.0
// A udp stream: numbered, stamped datagrams as fast as they go or at a rate, and what of them arrives.
#pragma once

#include <sys/socket.h>

#include "base/std.hpp"
#include "message/sockets/socket.hpp"
#include "message/sockets/stream_task.hpp"

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

/// Datagrams of `block` with a header in front of all but its first bytes. Sends until the stage is ending.
class UdpSender final : public StreamTask {
 public:
  UdpSender(const Socket& socket, const std::vector<std::byte>& block, const SocketsParameters& parameters);
  [[nodiscard]] Status run(const StageSign& stage) override;
  void wake() override { socket_.wake(); }
  void count(std::map<std::string, std::uint64_t>& counters) const override;

  /// Returns what is used: where the kernel or the path cannot cut large pieces, it is many.
  [[nodiscard]] DatagramBatch batch() const { return batch_; }

 private:
  void number(std::int64_t now) noexcept;
  /// Datagrams that the kernel has taken; an error only where no later call can go better.
  [[nodiscard]] Result<std::size_t> hand_over();
  [[nodiscard]] Result<std::size_t> hand_over_piece();
  [[nodiscard]] Result<std::size_t> hand_over_many();
  void use_many();
  void wait_for_turn() noexcept;

  const Socket& socket_;
  std::size_t block_bytes_;
  std::size_t datagrams_;  // of a batch
  DatagramBatch batch_;
  double interval_ns_ = 0;  // between batches; 0: none
  double turn_ns_ = 0;
  std::vector<std::byte> bytes_;
  std::vector<iovec> places_;
  std::vector<mmsghdr> messages_;
  std::uint64_t sent_ = 0;
  std::uint64_t refused_ = 0;
};

/// Receives until it is woken. Loss is counted by the numbers, over the measured time; datagrams that arrive outside of
/// it are checked.
class UdpReceiver final : public StreamTask {
 public:
  UdpReceiver(const Socket& socket, std::vector<std::byte> block, const SocketsParameters& parameters);
  [[nodiscard]] Status run(const StageSign& stage) override;
  void wake() override { socket_.wake(); }
  void count(std::map<std::string, std::uint64_t>& counters) const override;
  void measure(std::map<std::string, double>& gauges) const override;
  [[nodiscard]] const BlockCheck& block_check() const { return check_; }

 private:
  /// Messages of one call; 0: woken.
  [[nodiscard]] Result<std::size_t> receive();
  void note_arrival(std::int64_t now) noexcept;
  void take(const mmsghdr& message, const std::byte* data, bool checks);
  void follow(Stage stage) noexcept;
  [[nodiscard]] std::size_t piece_bytes(const mmsghdr& message) const noexcept;

  const Socket& socket_;
  BlockCheck check_;
  std::size_t block_bytes_;
  bool together_ = false;  // the kernel puts datagrams of one piece together
  std::size_t place_bytes_;
  std::vector<std::byte> bytes_;
  std::vector<std::byte> control_;
  std::vector<iovec> places_;
  std::vector<mmsghdr> messages_;
  SequenceAccount account_;
  SequenceAccount::Totals begin_;
  SequenceAccount::Totals end_;
  double jitter_ns_ = 0;
  Stage followed_ = Stage::warming;
  std::uint64_t malformed_ = 0;
  std::uint64_t received_bytes_ = 0;
};

}  // namespace ullage
