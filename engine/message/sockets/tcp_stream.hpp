// SPDX-License-Identifier: Apache-2.0
// A tcp stream: one block again and again, counted where it arrives.
#pragma once

#include "message/sockets/socket.hpp"
#include "message/sockets/stream_task.hpp"

namespace ullage {

/// Sends until the stage is ending, then says that nothing more comes. Counts bytes it has sent.
class TcpSender final : public StreamTask {
 public:
  TcpSender(const Socket& socket, std::vector<std::byte> block, bool zero_copy)
      : socket_(socket), block_(std::move(block)), zero_copy_(zero_copy) {}
  [[nodiscard]] Status run(const StageSign& stage) override;
  void wake() override { socket_.wake(); }
  void count(std::map<std::string, std::uint64_t>& counters) const override;
  void measure(std::map<std::string, double>& gauges) const override;
  [[nodiscard]] std::uint64_t total_bytes() const override { return sent_; }

 private:
  [[nodiscard]] Result<std::size_t> send_piece(std::size_t at, int flags);
  [[nodiscard]] Status send_all(const StageSign& stage);
  [[nodiscard]] Status send_uncopied(const StageSign& stage);
  /// Takes the kernel's notices that pages are free again; waits for one where `wait`.
  void take_notices(bool wait);
  void look_at_connection();

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

/// Receives until the sender has said that nothing more comes. What arrives while nothing is measured is checked: the
/// first blocks and all that comes after the measured time.
class TcpReceiver final : public StreamTask {
 public:
  TcpReceiver(const Socket& socket, std::vector<std::byte> block, std::size_t receive_bytes)
      : socket_(socket), check_(std::move(block)), buffer_(receive_bytes) {}
  [[nodiscard]] Status run(const StageSign& stage) override;
  void wake() override { socket_.wake(); }
  void count(std::map<std::string, std::uint64_t>& counters) const override;
  [[nodiscard]] std::uint64_t total_bytes() const override { return received_; }
  [[nodiscard]] const BlockCheck& block_check() const { return check_; }

 private:
  /// Receives until that stage, or `most` bytes since the beginning. Whether the stream has ended.
  [[nodiscard]] Result<bool> receive_before(const StageSign& stage, Stage later, std::uint64_t most, bool checks);
  [[nodiscard]] Result<bool> receive_piece(bool checks);
  /// Bytes of the next piece; 0 at the stream's end.
  [[nodiscard]] Result<std::size_t> receive();

  const Socket& socket_;
  BlockCheck check_;
  std::vector<std::byte> buffer_;
  std::uint64_t received_ = 0;
};

}  // namespace ullage
