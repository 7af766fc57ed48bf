// SPDX-License-Identifier: Apache-2.0
// Letters and sums between ranks that never make anybody wait: whoever posts does not wait for the reader, whoever
// looks not for the writer.
#pragma once

#include <list>

#include "base/pinned.hpp"
#include "base/std.hpp"
#include "mpi/comm.hpp"

namespace ullage::mpi {

/// What a letter is about is its kind; its content is bytes of any sort.
struct Letter {
  int from = 0;
  int kind = 0;
  std::string content = {};
  bool is_lost = false;  // there was no memory for the content: the letter has been taken all the same
};

/// Used by one thread. On a communicator of its own, so that no other message is taken for a letter.
class Mailbox final : Pinned {
 public:
  /// Collective. Throws, on all ranks, where one has no memory.
  explicit Mailbox(const Comm& everyone);
  /// Collective, after every letter has been read and every sum has been seen.
  ~Mailbox();

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  /// `kind` from 0 to 1000, content below 1 GiB; one of up to spare_bytes never fails its reader. Letters of one rank
  /// to another arrive in their order.
  void post(int to, int kind, std::string content);
  /// The next letter that has arrived, if any.
  [[nodiscard]] std::optional<Letter> look();

  static constexpr std::size_t spare_bytes = std::size_t{2} << 20;

  using Pair = std::array<std::uint64_t, 2>;
  /// Adds this rank's share to a sum over all ranks, one sum at a time.
  void add(const Pair& mine);
  /// The sum, once every rank has added its share; each sum is told once.
  [[nodiscard]] std::optional<Pair> sum();

 private:
  struct Posted;  // a letter that MPI may still be reading
  struct Summing;
  void forget_delivered();

  Comm comm_;
  int rank_;
  int size_;
  std::unique_ptr<std::array<char, spare_bytes>> spare_;  // into which letters are read that get lost
  std::list<Posted> posted_;
  std::unique_ptr<Summing> summing_;
};

}  // namespace ullage::mpi
