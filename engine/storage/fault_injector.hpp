// SPDX-License-Identifier: Apache-2.0
// Which calls of a rank are to fail, and how. Pure but for the count of calls so far.
#pragma once

#include <cerrno>

#include "base/parameters.hpp"
#include "base/std.hpp"

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

[[nodiscard]] inline Words<FaultKind> words_of(FaultKind) {
  return {{FaultKind::eio, "eio"},           {FaultKind::enospc, "enospc"}, {FaultKind::edquot, "edquot"},
          {FaultKind::short_count, "short"}, {FaultKind::delay, "delay"},   {FaultKind::hang, "hang"},
          {FaultKind::flip, "flip"}};
}

[[nodiscard]] inline Words<FaultOperation> words_of(FaultOperation) {
  return {
      {FaultOperation::open, "open"},        {FaultOperation::write, "write"},     {FaultOperation::read, "read"},
      {FaultOperation::sync, "sync"},        {FaultOperation::close, "close"},     {FaultOperation::remove, "remove"},
      {FaultOperation::mkdir, "mkdir"},      {FaultOperation::create, "create"},   {FaultOperation::stat, "stat"},
      {FaultOperation::rename, "rename"},    {FaultOperation::readdir, "readdir"}, {FaultOperation::chmod, "chmod"},
      {FaultOperation::truncate, "truncate"}};
}

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

/// A choice whose words are only known when all backends are registered.
inline Field<FaultParameters> inner_field() {
  ParameterSpec spec{"inner", ParameterType::choice,
                     "",      FaultParameters{}.inner,
                     {},      {},
                     {},      "Choose the backend that does the work."};
  return {std::move(spec), [](FaultParameters& p, const Value& v) { p.inner = std::get<std::string>(v); }};
}

inline Table<FaultParameters> FaultParameters::table() {
  using P = FaultParameters;
  return {
      inner_field(),
      map("inner_parameters", &P::inner_parameters, "Set the parameters of the inner backend."),
      choice("kind", &P::kind,
             "Choose what goes wrong: an error, a short count, a delay, an endless hang or a flipped bit of the data."),
      choice("operation", &P::operation, "Choose the operation whose calls go wrong."),
      ullage::count("rank", &P::rank, {-1, 16777216}, "Let calls go wrong on this rank only; -1 means on all ranks."),
      ullage::count("after", &P::after, {},
                    "Let this many calls of the operation succeed first, in each repetition and on each rank."),
      ullage::count("count", &P::count, {}, "Let this many calls go wrong; 0 means all calls from then on."),
      seconds("delay_s", &P::delay_s, {0, 3600}, "Delay a call by this many seconds."),
      bytes("short_bytes", &P::short_bytes, {1, 9e15},
            "Let a short call move this many bytes. A second call moves the rest, except in a file with views, where "
            "the operation fails."),
      ullage::count("flip_bit", &P::flip_bit, {},
                    "Flip this bit of an operation's data, modulo the length of the data."),
  };
}

/// The errno of a call that fails.
[[nodiscard]] inline int errno_of(FaultKind kind) {
  if (kind == FaultKind::enospc) return ENOSPC;
  return kind == FaultKind::edquot ? EDQUOT : EIO;
}

/// Short counts and flipped bits are of writes and reads only.
[[nodiscard]] inline Status check_fault(const FaultParameters& parameters, const std::string& pointer) {
  const bool of_data = parameters.kind == FaultKind::short_count || parameters.kind == FaultKind::flip;
  const bool moves_data = parameters.operation == FaultOperation::write || parameters.operation == FaultOperation::read;
  if (!of_data || moves_data) return {};
  return fail(bad_plan(pointer + "/operation", "is '" + word_of(parameters.operation) + "', but a '" +
                                                   word_of(parameters.kind) + "' fault needs write or read"));
}

/// One rank's count of the calls of the chosen operation.
class FaultInjector final {
 public:
  FaultInjector(const FaultParameters& parameters, int rank)
      : parameters_(parameters), mine_(parameters.rank < 0 || parameters.rank == rank) {}

  /// Counts one call and says whether it is one of those chosen, on this rank or another.
  [[nodiscard]] bool next_is_chosen(FaultOperation operation) {
    const bool chosen = untouched(operation) == 0;
    pass(operation, 1);
    return chosen;
  }

  /// Calls from now on that are not chosen.
  [[nodiscard]] std::uint64_t untouched(FaultOperation operation) const {
    if (operation != parameters_.operation) return no_end;
    if (calls_ < parameters_.after) return parameters_.after - calls_;
    return parameters_.count == 0 || calls_ - parameters_.after < parameters_.count ? 0 : no_end;
  }

  /// Counts `calls` of them.
  void pass(FaultOperation operation, std::uint64_t calls) {
    if (operation == parameters_.operation) calls_ += calls;
  }

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
