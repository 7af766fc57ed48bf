// SPDX-License-Identifier: Apache-2.0
// Requests and answers: a message there and back, one after the other, timed on the asker's clock.
#pragma once

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.hpp"
#include "message/sockets/socket.hpp"
#include "message/sockets/stream_task.hpp"

namespace ullage {

/// Where the messages of one end go and come from. A pipe goes one way, and whoever reads from one can be woken only by
/// bytes in it.
struct MessagePath {
  int out = -1;
  int in = -1;
  int waker = -1;  // the end that writes to `in`, of a pipe

  /// Of a socket.
  explicit MessagePath(const Socket& socket) : out(socket.get()), in(socket.get()) {}
  MessagePath(const Socket& to, const Socket& from, const Socket& wakes)
      : out(to.get()), in(from.get()), waker(wakes.get()) {}

  [[nodiscard]] bool is_pipe() const { return waker >= 0; }

  void wake() const {
    constexpr char any = 0;
    if (!is_pipe())
      (void)shutdown(in, SHUT_RDWR);
    else if (::write(waker, &any, 1) < 0)
      return;  // it is full: nobody waits
  }
};

/// Calls of one end: whole messages of one length, waited for asleep or awake.
class MessageCalls final {
 public:
  enum class Came { whole, nothing_more, not_in_time };
  /// `limit_ns` of an awake wait for a datagram; 0: none, so that no clock is read. Asleep it is SO_RCVTIMEO.
  MessageCalls(const MessagePath& path, bool is_stream, bool spin, std::int64_t limit_ns)
      : path_(path), is_stream_(is_stream), flags_(spin ? MSG_DONTWAIT : 0), limit_ns_(limit_ns) {}

  [[nodiscard]] Status send(std::span<const std::byte> message) const {
    while (!message.empty()) {
      const ssize_t sent = path_.is_pipe() ? ::write(path_.out, message.data(), message.size())
                                           : ::send(path_.out, message.data(), message.size(), MSG_NOSIGNAL);
      if (sent < 0) {
        if (errno == EINTR) continue;
        return socket_failure("send", "request");
      }
      message = message.subspan(static_cast<std::size_t>(sent));
    }
    return {};
  }

  /// Awake, and from a pipe, it also ends when the stage is over.
  [[nodiscard]] Result<Came> receive(std::span<std::byte> message, const StageSign& stage) const {
    if (!is_stream_) return receive_datagram(message, stage);
    while (!message.empty()) {
      const ssize_t got = take(message);
      if (got == 0 || (path_.is_pipe() && stage.get() == Stage::over)) return Came::nothing_more;
      if (got > 0) {
        message = message.subspan(static_cast<std::size_t>(got));
        continue;
      }
      if (errno != EINTR && errno != EAGAIN) return socket_failure("receive", "request");
      if (stage.get() == Stage::over) return Came::nothing_more;
    }
    return Came::whole;
  }

 private:
  [[nodiscard]] ssize_t take(std::span<std::byte> message) const noexcept {
    return path_.is_pipe() ? ::read(path_.in, message.data(), message.size())
                           : ::recv(path_.in, message.data(), message.size(), flags_);
  }

  /// Asleep the kernel has waited for us.
  [[nodiscard]] bool has_waited(std::int64_t deadline_ns) const {
    return flags_ == 0 || (deadline_ns > 0 && now_ns() >= deadline_ns);
  }

  [[nodiscard]] Result<Came> receive_datagram(std::span<std::byte> message, const StageSign& stage) const {
    const std::int64_t deadline_ns = limit_ns_ > 0 ? now_ns() + limit_ns_ : 0;
    for (;;) {
      const ssize_t got = ::recv(path_.in, message.data(), message.size(), flags_);
      if (got >= 0) return got > 0 ? Came::whole : Came::nothing_more;
      const int error = errno;
      if (error != EAGAIN && error != EINTR) return socket_failure("receive", "request");
      if (stage.get() == Stage::over) return Came::nothing_more;
      if (error == EAGAIN && has_waited(deadline_ns)) return Came::not_in_time;
    }
  }

  MessagePath path_;
  bool is_stream_;
  int flags_;
  std::int64_t limit_ns_;
};

inline std::int64_t limit_of(const SocketsParameters& p) { return static_cast<std::int64_t>(p.resend_s * 1e9); }

inline bool is_of_streams(const SocketsParameters& p) { return p.protocol == SocketProtocol::tcp || stays_on_node(p); }

/// A peer that says nothing more before it was told to.
inline Status ended(const StageSign& stage) {
  if (stage.get() >= Stage::ending) return {};
  return fail(errno_error(ECONNRESET, "receive", "answer"));
}

inline std::unexpected<Error> wrong_answer(std::uint64_t number) {
  return fail(verification_error("receive", "answer", "the answer does not match the request",
                                 "request " + std::to_string(number), "another message"));
}

/// Asks until the stage is ending. The first bytes of a request are its number: an answer to an earlier one, which was
/// given up, is known by it and passed over.
class RequestClient final : public AskingTask {
 public:
  RequestClient(const MessagePath& path, std::vector<std::byte> block, const SocketsParameters& p)
      : path_(path),
        calls_(path, is_of_streams(p), p.spin, p.spin && !is_of_streams(p) ? limit_of(p) : 0),
        is_stream_(is_of_streams(p)),
        request_(std::move(block)),
        answer_(request_.size()) {}

  [[nodiscard]] Status run(const StageSign& stage) override {
    Stage at = stage.get();
    std::int64_t last_ns = now_ns();
    while (at < Stage::ending) {
      number();
      const auto answer = ask(stage);
      if (!answer) return fail(answer.error());
      if (*answer == Answer::ended) return ended(stage);
      const std::int64_t now = now_ns();
      add(at, *answer, now - last_ns, request_.size());
      last_ns = now;
      at = stage.get();
    }
    // Outside the timer: the last answer, whole.
    if (number_ > 0 && is_answer() && answer_ != request_) return wrong_answer(number_);
    return {};
  }

  void wake() override { path_.wake(); }

 private:
  [[nodiscard]] Result<Answer> ask(const StageSign& stage) {
    if (const Status sent = calls_.send(request_); !sent) return fail(sent.error());
    for (;;) {
      const auto came = calls_.receive(answer_, stage);
      if (!came) return fail(came.error());
      if (*came == MessageCalls::Came::nothing_more) return Answer::ended;
      if (*came == MessageCalls::Came::not_in_time) return Answer::lost;
      if (is_answer()) return Answer::right;
      if (is_stream_) return wrong_answer(number_);
      ++late_;
    }
  }

  void number() noexcept {
    ++number_;
    std::memcpy(request_.data(), &number_, std::min(sizeof number_, request_.size()));
  }

  [[nodiscard]] bool is_answer() const noexcept {
    return std::memcmp(answer_.data(), request_.data(), std::min(sizeof number_, answer_.size())) == 0;
  }

  MessagePath path_;
  MessageCalls calls_;
  bool is_stream_;
  std::vector<std::byte> request_;
  std::vector<std::byte> answer_;
  std::uint64_t number_ = 0;
};

/// Sends back whatever comes, until nothing more does.
class RequestServer final : public StreamTask {
 public:
  RequestServer(const MessagePath& path, const SocketsParameters& p)
      : path_(path), calls_(path, is_of_streams(p), p.spin, 0), message_(p.block_bytes) {}

  [[nodiscard]] Status run(const StageSign& stage) override {
    for (;;) {
      const auto came = calls_.receive(message_, stage);
      if (!came) return fail(came.error());
      if (*came != MessageCalls::Came::whole) return {};
      if (const Status sent = calls_.send(message_); !sent) return sent;
      ++answered_;
    }
  }

  void wake() override { path_.wake(); }
  void count(std::map<std::string, std::uint64_t>& counters) const override { counters["answered"] += answered_; }

 private:
  MessagePath path_;
  MessageCalls calls_;
  std::vector<std::byte> message_;
  std::uint64_t answered_ = 0;
};

/// SO_BUSY_POLL and, for datagrams, SO_RCVTIMEO, as asked for.
[[nodiscard]] inline Status ready_for_requests(const Socket& socket, const SocketsParameters& p, bool asks) {
  if (p.busy_poll_us > 0)
    if (auto done = socket.set_option(SOL_SOCKET, SO_BUSY_POLL, static_cast<int>(p.busy_poll_us)); !done) return done;
  if (!asks || is_of_streams(p)) return {};
  const std::int64_t limit_us = std::max<std::int64_t>(limit_of(p) / 1000, 1);
  const timeval limit{limit_us / 1'000'000, limit_us % 1'000'000};
  if (setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0)
    return socket_failure("setsockopt", "socket");
  return {};
}

}  // namespace ullage
