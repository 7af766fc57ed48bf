// SPDX-License-Identifier: Apache-2.0
// Requests and answers: a message there and back, one after the other, timed on the asker's clock.
#pragma once

#include "message/sockets/socket.hpp"
#include "message/sockets/stream_task.hpp"

namespace ullage {

/// Calls of one end: whole messages of one length, waited for asleep or awake.
class MessageCalls final {
 public:
  enum class Came { whole, nothing_more, not_in_time };
  /// `limit_ns` of an awake wait for a datagram; 0: none, so that no clock is read. Asleep it is SO_RCVTIMEO.
  MessageCalls(const Socket& socket, bool is_stream, bool spin, std::int64_t limit_ns)
      : socket_(socket), is_stream_(is_stream), flags_(spin ? MSG_DONTWAIT : 0), limit_ns_(limit_ns) {}
  [[nodiscard]] Status send(std::span<const std::byte> message) const;
  /// Awake it also ends when the stage is over.
  [[nodiscard]] Result<Came> receive(std::span<std::byte> message, const StageSign& stage) const;

 private:
  [[nodiscard]] bool has_waited(std::int64_t deadline_ns) const;
  [[nodiscard]] Result<Came> receive_datagram(std::span<std::byte> message, const StageSign& stage) const;

  const Socket& socket_;
  bool is_stream_;
  int flags_;
  std::int64_t limit_ns_;
};

/// Asks until the stage is ending. The first bytes of a request are its number: an answer to an earlier one, which was
/// given up, is known by it and passed over.
class RequestClient final : public StreamTask {
 public:
  RequestClient(const Socket& socket, std::vector<std::byte> block, const SocketsParameters& parameters);
  [[nodiscard]] Status run(const StageSign& stage) override;
  void wake() override { socket_.wake(); }
  void count(std::map<std::string, std::uint64_t>& counters) const override;
  [[nodiscard]] const Histogram* latencies() const override { return &latencies_; }

 private:
  enum class Answer { right, lost, ended };
  [[nodiscard]] Result<Answer> ask(const StageSign& stage);
  void number() noexcept;
  [[nodiscard]] bool is_answer() const noexcept;

  const Socket& socket_;
  MessageCalls calls_;
  bool is_stream_;
  std::vector<std::byte> request_;
  std::vector<std::byte> answer_;
  Histogram latencies_;
  std::uint64_t number_ = 0;
  std::uint64_t measured_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t late_ = 0;
};

/// Sends back whatever comes, until nothing more does.
class RequestServer final : public StreamTask {
 public:
  RequestServer(const Socket& socket, const SocketsParameters& parameters);
  [[nodiscard]] Status run(const StageSign& stage) override;
  void wake() override { socket_.wake(); }
  void count(std::map<std::string, std::uint64_t>& counters) const override;

 private:
  const Socket& socket_;
  MessageCalls calls_;
  std::vector<std::byte> message_;
  std::uint64_t answered_ = 0;
};

/// SO_BUSY_POLL and, for datagrams, SO_RCVTIMEO, as asked for.
[[nodiscard]] Status ready_for_requests(const Socket& socket, const SocketsParameters& parameters, bool asks);

}  // namespace ullage
