// SPDX-License-Identifier: Apache-2.0
#include "storage/fault_injector.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace ullage {
namespace {

Words<FaultKind> kinds() {
  return {{FaultKind::eio, "eio"},           {FaultKind::enospc, "enospc"}, {FaultKind::edquot, "edquot"},
          {FaultKind::short_count, "short"}, {FaultKind::delay, "delay"},   {FaultKind::hang, "hang"},
          {FaultKind::flip, "flip"}};
}

Words<FaultOperation> operations() {
  return {
      {FaultOperation::open, "open"},        {FaultOperation::write, "write"},     {FaultOperation::read, "read"},
      {FaultOperation::sync, "sync"},        {FaultOperation::close, "close"},     {FaultOperation::remove, "remove"},
      {FaultOperation::mkdir, "mkdir"},      {FaultOperation::create, "create"},   {FaultOperation::stat, "stat"},
      {FaultOperation::rename, "rename"},    {FaultOperation::readdir, "readdir"}, {FaultOperation::chmod, "chmod"},
      {FaultOperation::truncate, "truncate"}};
}

/// A choice whose words are only known when all backends are registered.
Field<FaultParameters> inner_field() {
  ParameterSpec spec{"inner", ParameterType::choice,
                     "",      FaultParameters{}.inner,
                     {},      {},
                     {},      "Choose the backend that does the work."};
  return {std::move(spec), [](FaultParameters& p, const Value& v) { p.inner = std::get<std::string>(v); }};
}

}  // namespace

Table<FaultParameters> FaultParameters::table() {
  using P = FaultParameters;
  return {
      inner_field(),
      map("inner_parameters", &P::inner_parameters, "Set the parameters of the inner backend."),
      choice("kind", &P::kind, kinds(),
             "Choose what goes wrong: an error, a short count, a delay, an endless hang or a flipped bit of the data."),
      choice("operation", &P::operation, operations(), "Choose the operation whose calls go wrong."),
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

std::string word(FaultOperation operation) { return detail::word_of(operations(), operation); }

int errno_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::eio:
      return EIO;
    case FaultKind::enospc:
      return ENOSPC;
    case FaultKind::edquot:
      return EDQUOT;
    default:
      return 0;
  }
}

Status check_fault(const FaultParameters& parameters, const std::string& pointer) {
  const bool of_data = parameters.kind == FaultKind::short_count || parameters.kind == FaultKind::flip;
  const bool moves_data = parameters.operation == FaultOperation::write || parameters.operation == FaultOperation::read;
  if (!of_data || moves_data) return {};
  return fail(bad_plan(pointer + "/operation", "is '" + word(parameters.operation) + "', but a '" +
                                                   detail::word_of(kinds(), parameters.kind) +
                                                   "' fault needs write or read"));
}

bool FaultInjector::next_is_chosen(FaultOperation operation) {
  const bool chosen = untouched(operation) == 0;
  pass(operation, 1);
  return chosen;
}

std::uint64_t FaultInjector::untouched(FaultOperation operation) const {
  if (operation != parameters_.operation) return no_end;
  if (calls_ < parameters_.after) return parameters_.after - calls_;
  return parameters_.count == 0 || calls_ - parameters_.after < parameters_.count ? 0 : no_end;
}

void FaultInjector::pass(FaultOperation operation, std::uint64_t calls) {
  if (operation == parameters_.operation) calls_ += calls;
}

}  // namespace ullage
