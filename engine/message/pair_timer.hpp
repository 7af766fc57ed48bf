// SPDX-License-Identifier: Apache-2.0
// How long a message takes from one rank to another.
#pragma once

#include "base/pinned.hpp"
#include "base/std.hpp"
#include "message/message_contents.hpp"
#include "mpi/comm.hpp"
#include "mpi/messages.hpp"

namespace ullage {

/// ping_pong: there and back, by MPI_Send and MPI_Recv; half of it is told. HPCC's latency and bandwidth · one_way: all
/// messages of a measurement are under way at once, by MPI_Isend, and a short one comes back when they have arrived;
/// each direction of a link is so seen by itself.
enum class PairTraffic { ping_pong, one_way };

struct PairJob {
  PairTraffic traffic = PairTraffic::ping_pong;
  std::size_t message_bytes = 8;
  std::uint64_t loops = 8;         // messages of a measurement
  std::uint64_t measurements = 5;  // of which the shortest counts
  Pages pages = Pages::system;
};

/// Measures this rank with one other at a time. Contents are checked after each measurement, outside the timer.
class PairTimer final : Pinned {
 public:
  /// `comm` outlives it, and is one in which this rank is `rank` from the first measurement on. `key`: of the contents,
  /// the same on all ranks.
  PairTimer(const mpi::Comm& comm, int rank, const PairJob& job, std::uint64_t key);
  ~PairTimer();

  /// Shortest time in s that a message took to `server`, which answers meanwhile.
  [[nodiscard]] double ask(int server);
  void answer(int client);

  /// Bytes this rank has sent inside timers.
  [[nodiscard]] std::uint64_t sent_bytes() const noexcept { return sent_bytes_; }
  /// The fact `pages`.
  [[nodiscard]] nlohmann::json pages() const { return buffers_.pages(); }
  [[nodiscard]] const Verification& found() const noexcept { return found_; }

 private:
  struct Loops;  // what is run before the timer, inside it, and to say that all has come
  [[nodiscard]] std::vector<mpi::MessageStep> steps(bool asks, std::uint64_t messages) const;
  [[nodiscard]] mpi::MessageLoop loop(std::vector<mpi::MessageStep> steps);
  void begin(Loops& loops);
  void run(Loops& loops) const;
  void end(const Loops& loops);

  const mpi::Comm& comm_;
  PairJob job_;
  MessageContents contents_;
  MessageBuffers buffers_;
  MessageBuffers short_ones_;
  // Made once and turned to one rank after the other: between two measurements nothing is allocated.
  std::unique_ptr<Loops> asking_;
  std::unique_ptr<Loops> answering_;
  std::uint64_t sent_bytes_ = 0;
  Verification found_;
};

}  // namespace ullage
