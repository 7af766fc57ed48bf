// SPDX-License-Identifier: Apache-2.0
// The loops in which ranks send each other messages, by three ways of calling MPI. Nothing but MPI's own calls and a
// few additions stand between two messages.
#pragma once

#include "base/pinned.hpp"
#include "base/std.hpp"
#include "mpi/comm.hpp"

namespace ullage::mpi {

/// A message out, a message in, or both at once, as one rank sees it. Ranks are those of the communicator.
struct MessageStep {
  static constexpr int nobody = -1;
  int to = nobody;
  int from = nobody;
  int tag = 0;
  friend bool operator==(const MessageStep&, const MessageStep&) = default;
};

/// sendrecv: a call a step, MPI_Sendrecv, or MPI_Send or MPI_Recv where there is one side only · alltoallv: one
/// MPI_Alltoallv for all steps, which have to go to different ranks and come from different ranks; all ranks of the
/// communicator take part · nonblocking: MPI_Irecv and MPI_Isend for all steps, then one MPI_Waitall.
enum class MessageMethod { sendrecv, alltoallv, nonblocking };

/// Knows where successive messages lie: each begins where the one before ended, rounded up to 8 bytes, until the end is
/// reached. Small messages so do not meet the same cache lines again.
class RotatingBuffer final {
 public:
  explicit RotatingBuffer(std::span<std::byte> bytes) : bytes_(bytes) {}
  /// `length` bytes, at most bytes().size(). Buffers of one size give the same places for the same lengths.
  [[nodiscard]] std::byte* next(std::size_t length) noexcept {
    if (next_ + length > bytes_.size()) next_ = 0;
    std::byte* const place = bytes_.data() + next_;
    next_ += (length + 7) & ~std::size_t{7};
    return place;
  }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<std::byte> bytes_;
  std::size_t next_ = 0;
};

/// One pattern's messages of one length by one method. Which bytes were received last is known afterwards, so that they
/// can be checked outside the timer.
class MessageLoop final : Pinned {
 public:
  struct Calls;  // what MPI wants to be told; defined in messages.cpp
  /// Room for that of alltoallv, which grows with the ranks: for loops that are made between collectives, one at a
  /// time.
  [[nodiscard]] static std::shared_ptr<Calls> room_for(const Comm& comm);

  /// `comm`, `out` and `in` outlive it. Messages are at most 2^31 - 1 bytes, and `out` and `in` hold one at least.
  /// Without `room` it makes its own.
  MessageLoop(const Comm& comm, std::vector<MessageStep> steps, MessageMethod method, std::size_t message_bytes,
              RotatingBuffer& out, RotatingBuffer& in, std::shared_ptr<Calls> room = nullptr);
  ~MessageLoop();

  /// Every step, `iterations` times. Collective over the ranks that have messages for each other, and over all of the
  /// communicator with alltoallv.
  void run(std::uint64_t iterations);

  /// From now on all messages go to this rank and come from it; not with alltoallv.
  void turn_to(int other) noexcept;

  /// Messages this rank sends in an iteration.
  [[nodiscard]] std::uint64_t sends() const noexcept { return sends_; }
  /// Returns whether run() would do nothing on this rank, whose call may then be left out.
  [[nodiscard]] bool is_idle() const noexcept { return steps_.empty() && method_ != MessageMethod::alltoallv; }

  [[nodiscard]] const std::vector<MessageStep>& steps() const noexcept { return steps_; }
  [[nodiscard]] std::size_t message_bytes() const noexcept { return message_bytes_; }
  /// Returns where the next iteration begins: a copy tells where its messages will lie, sends and receives each in the
  /// order of the steps.
  [[nodiscard]] const RotatingBuffer& out() const noexcept { return *out_; }
  [[nodiscard]] const RotatingBuffer& in() const noexcept { return *in_; }

  struct Received {
    int from = MessageStep::nobody;
    std::span<const std::byte> data;
  };
  /// Returns what the last iteration received, in the order of the steps.
  [[nodiscard]] const std::vector<Received>& last_received() const noexcept { return received_; }
  /// Returns where the last iteration's messages were sent from, in the order of the steps that send.
  [[nodiscard]] const std::vector<std::span<std::byte>>& last_sent() const noexcept { return sent_; }

 private:
  void run_sendrecv(std::uint64_t iterations);
  void run_alltoallv(std::uint64_t iterations);
  void run_nonblocking(std::uint64_t iterations);
  [[nodiscard]] std::byte* next_out(std::size_t send);
  [[nodiscard]] std::byte* next_in(std::size_t receive);

  const Comm* comm_;
  std::vector<MessageStep> steps_;
  MessageMethod method_;
  std::size_t message_bytes_;
  RotatingBuffer* out_;
  RotatingBuffer* in_;
  std::uint64_t sends_ = 0;
  std::vector<Received> received_;
  std::vector<std::span<std::byte>> sent_;
  std::shared_ptr<Calls> calls_;
};

}  // namespace ullage::mpi
