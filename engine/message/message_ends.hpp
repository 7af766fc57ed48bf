// SPDX-License-Identifier: Apache-2.0
// Whether messages arrive: by their ends, which costs little beside sending them, however long they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "mpi/messages.hpp"
#include "work/phase_work.hpp"

namespace ullage {

/// One rank's. What goes wrong is counted, and the first mistake kept; `what` names the messages for it.
class MessageEnds final {
 public:
  /// `key`: the same on all ranks, another for every repetition.
  MessageEnds(std::uint64_t key, int rank) : key_(key), rank_(rank) {}

  /// Makes every byte that will be sent one that names this rank (among 255). Before the first message.
  void fill(std::span<std::byte> out) const;
  /// First and last byte of the messages received last, which fill() of their senders made.
  void look(const mpi::MessageLoop& loop, std::string_view what);
  /// Sends and receives everything once more; each message's ends, up to 8 bytes either, then tell sender, receiver,
  /// key and `number`, which no two calls share. Collective as loop.run(1) is; afterwards all bytes are as fill() made
  /// them.
  void exchange_fresh(mpi::MessageLoop& loop, std::uint64_t number, std::string_view what);

  [[nodiscard]] const Verification& found() const noexcept { return found_; }

 private:
  [[nodiscard]] std::byte byte_of(int rank) const noexcept;
  [[nodiscard]] std::uint64_t signature(int from, int to, std::uint64_t number) const noexcept;
  void count(const mpi::MessageLoop::Received& message, std::uint64_t expected, std::uint64_t found, std::size_t bytes,
             std::string_view what);

  std::uint64_t key_;
  int rank_;
  Verification found_;
};

}  // namespace ullage
