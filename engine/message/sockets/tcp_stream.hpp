// SPDX-License-Identifier: Apache-2.0
// A tcp stream: one block again and again, counted where it arrives.
#pragma once

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <cerrno>
#include <cstring>

#include "base/std.hpp"
#include "message/sockets/socket.hpp"
#include "message/sockets/stream_task.hpp"

namespace ullage {

/// Notices are taken after so many calls: seldom enough to cost nothing, often enough for the queue to have room.
inline constexpr std::uint64_t calls_between_notices = 64;
inline constexpr int notice_wait_ms = 100;
inline constexpr int waits_at_the_end = 20;

/// Sends until the stage is ending, then says that nothing more comes. Counts bytes it has sent.
class TcpSender final : public StreamTask {
 public:
  TcpSender(const Socket& socket, std::vector<std::byte> block, bool zero_copy)
      : socket_(socket), block_(std::move(block)), zero_copy_(zero_copy) {}

  [[nodiscard]] Status run(const StageSign& stage) override {
    const Status sent = zero_copy_ ? send_uncopied(stage) : send_all(stage);
    look_at_connection();
    (void)shutdown(socket_.get(), SHUT_WR);
    return sent;
  }

  void wake() override { socket_.wake(); }

  void count(std::map<std::string, std::uint64_t>& counters) const override {
    counters["sent_bytes"] += sent_;
    counters["retransmits"] += retransmits_;
    counters["zero_copy_calls"] += uncopied_calls_;
    counters["zero_copy_copied"] += copied_after_all_;
  }

  void measure(std::map<std::string, double>& gauges) const override {
    gauges["smoothed_round_trip_s"] = round_trip_s_;
  }

  [[nodiscard]] std::uint64_t total_bytes() const override { return sent_; }

 private:
  /// Bytes that were taken; 0 where it may be tried again.
  [[nodiscard]] Result<std::size_t> send_piece(std::size_t at, int flags) {
    const ssize_t done = ::send(socket_.get(), block_.data() + at, block_.size() - at, flags);
    if (done >= 0) {
      sent_ += static_cast<std::uint64_t>(done);
      tally_.set(sent_);
      return static_cast<std::size_t>(done);
    }
    if (errno == EINTR) return 0;
    if (errno != ENOBUFS || !zero_copy_) return socket_failure("send", "tcp stream");
    take_notices(true);  // no room for more of them, or for pinned pages
    return 0;
  }

  [[nodiscard]] Status send_all(const StageSign& stage) {
    std::size_t at = 0;
    while (stage.get() < Stage::ending) {
      const auto done = send_piece(at, MSG_NOSIGNAL);
      if (!done) return fail(done.error());
      at += *done;
      if (at == block_.size()) at = 0;
    }
    return {};
  }

  /// The block never changes, so it may be sent again while the kernel still reads it.
  [[nodiscard]] Status send_uncopied(const StageSign& stage) {
    if (const Status set = socket_.set_option(SOL_SOCKET, SO_ZEROCOPY, 1); !set) return set;
    std::size_t at = 0;
    while (stage.get() < Stage::ending) {
      const auto done = send_piece(at, MSG_NOSIGNAL | MSG_ZEROCOPY);
      if (!done) return fail(done.error());
      at += *done;
      if (at == block_.size()) at = 0;
      if (*done > 0 && ++uncopied_calls_ % calls_between_notices == 0) take_notices(false);
    }
    // The pages are ours until the kernel has said that it needs them no more.
    for (int wait = 0; wait < waits_at_the_end && noticed_ < uncopied_calls_; ++wait) take_notices(true);
    return {};
  }

  /// Takes the kernel's notices that pages are free again; waits for one where `wait`.
  void take_notices(bool wait) {
    if (wait) {
      pollfd watched{socket_.get(), 0, 0};  // errors are always told
      (void)poll(&watched, 1, notice_wait_ms);
    }
    for (;;) {
      alignas(cmsghdr) std::array<std::byte, 128> control{};
      msghdr message{};
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      if (recvmsg(socket_.get(), &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return;
      const cmsghdr* const header = CMSG_FIRSTHDR(&message);
      if (header == nullptr) return;
      sock_extended_err notice{};
      std::memcpy(&notice, CMSG_DATA(header), sizeof notice);
      if (notice.ee_errno != 0 || notice.ee_origin != SO_EE_ORIGIN_ZEROCOPY) continue;
      const std::uint64_t calls = notice.ee_data - notice.ee_info + 1;
      noticed_ += calls;
      if ((notice.ee_code & SO_EE_CODE_ZEROCOPY_COPIED) != 0) copied_after_all_ += calls;
    }
  }

  void look_at_connection() {
    tcp_info info{};
    socklen_t length = sizeof info;
    if (getsockopt(socket_.get(), IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return;
    retransmits_ = info.tcpi_total_retrans;
    round_trip_s_ = static_cast<double>(info.tcpi_rtt) * 1e-6;
  }

  const Socket& socket_;
  std::vector<std::byte> block_;
  bool zero_copy_;
  std::uint64_t sent_ = 0;
  std::uint64_t uncopied_calls_ = 0;
  std::uint64_t noticed_ = 0;
  std::uint64_t copied_after_all_ = 0;
  std::uint64_t retransmits_ = 0;
  double round_trip_s_ = 0;
};

inline constexpr std::uint64_t checked_at_first = 1 << 16;

/// A receiver that waits is woken for so much at once: to wake one for every small segment is most of its price, and
/// whoever is faster than its sender would wait after each. The stream's end wakes it in any case.
inline constexpr int woken_for_bytes = 64 << 10;
inline constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// The sender goes on until it is told that all has been measured.
inline Status too_early(const StageSign& stage) {
  if (stage.get() >= Stage::ending) return {};
  return fail(errno_error(ECONNRESET, "receive", "tcp stream"));
}

/// Receives until the sender has said that nothing more comes. What arrives while nothing is measured is checked: the
/// first blocks and all that comes after the measured time.
class TcpReceiver final : public StreamTask {
 public:
  TcpReceiver(const Socket& socket, std::vector<std::byte> block, std::size_t receive_bytes)
      : socket_(socket), check_(std::move(block)), buffer_(receive_bytes) {}

  [[nodiscard]] Status run(const StageSign& stage) override {
    if (const Status set = socket_.set_option(SOL_SOCKET, SO_RCVLOWAT, woken_for_bytes); !set) return set;
    auto ended = receive_before(stage, Stage::measuring, checked_at_first, true);
    if (ended && !*ended) ended = receive_before(stage, Stage::ending, unlimited, false);
    if (ended && *ended) return too_early(stage);
    while (ended && !*ended) ended = receive_piece(true);
    return ended ? Status{} : fail(ended.error());
  }

  void wake() override { socket_.wake(); }

  void count(std::map<std::string, std::uint64_t>& counters) const override {
    counters["received_bytes"] += received_;
    counters["checked_bytes"] += check_.checked_bytes();
    counters["bad_pieces"] += check_.bad_pieces();
  }

  [[nodiscard]] std::uint64_t total_bytes() const override { return received_; }
  [[nodiscard]] const BlockCheck& block_check() const { return check_; }

 private:
  /// Receives until that stage, or `most` bytes since the beginning. Whether the stream has ended.
  [[nodiscard]] Result<bool> receive_before(const StageSign& stage, Stage later, std::uint64_t most, bool checks) {
    while (received_ < most && stage.get() < later) {
      const auto ended = receive_piece(checks);
      if (!ended || *ended) return ended;
    }
    return false;
  }

  [[nodiscard]] Result<bool> receive_piece(bool checks) {
    const auto got = receive();
    if (!got) return fail(got.error());
    if (checks) check_.check(received_ - *got, std::span(buffer_).first(*got));
    return *got == 0;
  }

  /// Bytes of the next piece; 0 at the stream's end.
  [[nodiscard]] Result<std::size_t> receive() {
    for (;;) {
      const ssize_t got = ::recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
      if (got < 0) {
        if (errno == EINTR) continue;
        return socket_failure("receive", "tcp stream");
      }
      received_ += static_cast<std::uint64_t>(got);
      tally_.set(received_);
      return static_cast<std::size_t>(got);
    }
  }

  const Socket& socket_;
  BlockCheck check_;
  std::vector<std::byte> buffer_;
  std::uint64_t received_ = 0;
};

}  // namespace ullage
