// SPDX-License-Identifier: Apache-2.0
// Which calls of a rank are to fail, and how. Pure but for the count of calls so far.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "base/parameters.hpp"

namespace ullage {

enum class FaultKind { eio, enospc, edquot, short_count, delay, hang, flip };
/// Calls on files and, from `mkdir` on, on names; `open`, `read` and `remove` are calls on both.
enum class FaultOperation {
  open,
  write,
  read,
  sync,
  close,
  remove,
  mkdir,
  create,
  stat,
  rename,
  readdir,
  chmod,
  truncate
};

struct FaultParameters {
  std::string inner = "posix";
  Map inner_parameters;
  FaultKind kind = FaultKind::eio;
  FaultOperation operation = FaultOperation::write;
  std::int64_t rank = -1;  // -1: all
  std::uint64_t after = 0;
  std::uint64_t count = 1;  // 0: for ever
  double delay_s = 0.1;
  std::uint64_t short_bytes = 512;
  std::uint64_t flip_bit = 0;

  [[nodiscard]] static Table<FaultParameters> table();
};

[[nodiscard]] std::string word(FaultOperation operation);
/// The errno of an error kind; 0 for the others.
[[nodiscard]] int errno_of(FaultKind kind);
/// Short counts and flipped bits are of writes and reads only.
[[nodiscard]] Status check_fault(const FaultParameters& parameters, const std::string& pointer);

/// One rank's count of the calls of the chosen operation.
class FaultInjector final {
 public:
  FaultInjector(const FaultParameters& parameters, int rank)
      : parameters_(parameters), mine_(parameters.rank < 0 || parameters.rank == rank) {}

  /// Counts one call and says whether it is one of those chosen, on this rank or another.
  [[nodiscard]] bool next_is_chosen(FaultOperation operation);
  /// Calls from now on that are not chosen.
  [[nodiscard]] std::uint64_t untouched(FaultOperation operation) const;
  /// Counts `calls` of them.
  void pass(FaultOperation operation, std::uint64_t calls);
  /// This rank is to have it.
  [[nodiscard]] bool mine() const noexcept { return mine_; }
  [[nodiscard]] const FaultParameters& parameters() const noexcept { return parameters_; }

  static constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();

 private:
  FaultParameters parameters_;
  bool mine_;
  std::uint64_t calls_ = 0;
};

}  // namespace ullage
