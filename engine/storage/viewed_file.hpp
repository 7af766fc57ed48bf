// SPDX-License-Identifier: Apache-2.0
// A file through which every rank sees a part of it, with pointers that move on by themselves: what MPI-IO has and
// calls with explicit offsets do not.
#pragma once

#include "base/parameters.hpp"
#include "base/pinned.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "mpi/file.hpp"

namespace ullage {

enum class Direction { write, read };
[[nodiscard]] inline Words<Direction> words_of(Direction) {
  return {{Direction::write, "write"}, {Direction::read, "read"}};
}

using mpi::FileView;

/// Says which pointer a call moves, and who takes part in it.
enum class Pointer {
  individual,  // each rank its own, alone
  together,    // each rank its own, in a call of all ranks that opened the file
  ordered,     // the shared one, in a call of all of them: their data lies in the order of the ranks
};

/// An open file of one rank, used by one thread. Lengths are multiples of 8, or any through a view of an array. Calls
/// that are collective are so over all ranks that opened the file. The first error stays its rank's: from then on
/// move() gives it back, having taken part with nothing where the call is collective, so that no other rank hangs. Not
/// closed by the destructor's good grace: see File.
class ViewedFile : public Interface {
 public:
  /// Collective, also for a rank in error. All pointers go back to the beginning of the view. The shared pointer needs
  /// the same view everywhere.
  [[nodiscard]] virtual Status set_view(const FileView& view, const Map& hints) = 0;
  /// Collective, also for a rank in error. Hints for the calls that follow; pointers stay where they are.
  [[nodiscard]] virtual Status set_hints(const Map& hints) = 0;
  /// One call of the library with all of `data`, at most INT_MAX bytes; an error where the library says that fewer were
  /// moved. Libraries may say more than is true: OMPIO counts what a failed collective write should have written, and
  /// nothing sensible of the shared pointer. Only data that was read back and looked at is known to be there.
  [[nodiscard]] virtual Status move(Direction direction, Pointer pointer, std::span<std::byte> data) = 0;
  /// Collective, also for a rank in error: exactly one request to make the file's data durable, or none, and an error
  /// on all ranks, where the library's calls have failed on one. After writes through the shared pointer also an error
  /// where it did not come to lie behind them.
  [[nodiscard]] virtual Status sync() = 0;
  /// Collective. A rank that comes here while others sync goes along with them.
  [[nodiscard]] virtual Status close() = 0;
  /// Hints as the library says it uses them; empty where there are none.
  [[nodiscard]] virtual Map hints_granted() const { return {}; }
};

}  // namespace ullage
