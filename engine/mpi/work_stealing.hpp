// SPDX-License-Identifier: Apache-2.0
// Work that is found while it is done, spread over ranks: who has none asks a random other for half of what waits
// there.
#pragma once

#include "base/pinned.hpp"
#include "base/std.hpp"
#include "mpi/comm.hpp"
#include "mpi/mailbox.hpp"

namespace ullage::mpi {

/// The work of one rank, as far as others can do it.
class SharedWork : public Interface {
 public:
  // What one of these fails in is kept as an error of the work: they throw nothing, and the ranks go on sharing.

  /// About half of what waits here, which is no longer this rank's; empty when nothing waits. Below 1 GiB.
  [[nodiscard]] virtual std::string give() noexcept = 0;
  /// Takes what another rank gave.
  virtual void take(const std::string& given) noexcept = 0;
  /// What another rank gave could not be taken, for want of memory.
  virtual void lose() noexcept = 0;
};

/// Every rank does its work and calls answer() in between; once it has none left it calls more(), until that says that
/// nobody has any. After its first more() a rank makes work by doing and taking work only. Of what more() brought it
/// does some before the next answer(), or the same work may go from rank to rank for ever.
///
/// How the end is found (Mattern's four counters, Distributed Computing 2, 1987): ranks without work add up, round
/// after round, how often they gave work and how often they took some. The work is done when as much was taken in one
/// round as was given in the next. For at the moment between the two, no less was taken than the first round saw, no
/// more was given than the second saw, and no more can be taken than was given: where the outer two are equal, all four
/// are. So nothing was on its way at that moment, and nobody had taken anything since it joined the first round, which
/// it did without work. A round is one sum over all ranks; questions and refusals are not counted, since they make
/// nobody work.
class WorkStealing final {
 public:
  /// Collective. `work` outlives it.
  WorkStealing(const Comm& everyone, SharedWork& work);

  /// Gives to whoever has asked.
  void answer();
  /// This rank is out of work: waits until it has some again. False: nobody has any; every rank is told so, and no
  /// letter is on its way any more.
  [[nodiscard]] bool more();

 private:
  void read(const Letter& letter);
  void ask();
  [[nodiscard]] bool nobody_works();
  void leave_together();

  Mailbox mailbox_;
  SharedWork& work_;
  std::uint64_t random_;
  std::uint64_t given_ = 0;
  std::uint64_t taken_ = 0;
  bool asked_ = false;     // and not been answered
  bool counting_ = false;  // in a round
  std::optional<std::uint64_t> taken_in_last_round_;
};

}  // namespace ullage::mpi
