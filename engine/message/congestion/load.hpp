// SPDX-License-Identifier: Apache-2.0
// Ranks that fill the network until they are told to stop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/meter.hpp"
#include "mpi/collectives.hpp"
#include "mpi/mailbox.hpp"
#include "mpi/messages.hpp"

namespace ullage {

/// incast: all send to the first of them · alltoall: each to each.
enum class LoadKind { incast, alltoall };

/// Told over a mailbox of all ranks: the first disturbing rank answers `begun` once a round is done, and stops at
/// `stop`. Those that disturb or rest with it learn that from it.
enum CongestionLetter : int { congestion_begun = 1, congestion_stop = 2 };

/// One disturbing rank. The rounds are the same on all of them.
class CongestionLoad final {
 public:
  /// `comm`: the disturbing ranks, 2 or more; `mailbox`: of all ranks; `relay`: of those of `comm`. All outlive it.
  CongestionLoad(const mpi::Comm& comm, mpi::Mailbox& mailbox, mpi::Mailbox& relay, LoadKind kind,
                 std::size_t message_bytes);

  /// Collective over `comm`: rounds until the first of them has got a stop. `told`: whom that one tells that the first
  /// round is done.
  void run_until_stopped(int told, Meter& signs);
  /// Collective over `comm`: waits until the first of them has got a stop, and leaves the core to others.
  void rest_until_stopped(Meter& signs);

  /// Bytes this rank has sent.
  [[nodiscard]] std::uint64_t sent_bytes() const noexcept { return sent_bytes_; }
  [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_; }

 private:
  void round();

  const mpi::Comm& comm_;
  mpi::Mailbox& mailbox_;
  mpi::Mailbox& relay_;
  int rank_;
  std::uint64_t bytes_a_loop_ = 0;
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t rounds_ = 0;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  mpi::RotatingBuffer sends_;
  mpi::RotatingBuffer receives_;
  std::unique_ptr<mpi::MessageLoop> messages_;
  std::unique_ptr<mpi::CollectiveCall> exchange_;
};

}  // namespace ullage
