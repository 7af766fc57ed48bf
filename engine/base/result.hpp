// SPDX-License-Identifier: Apache-2.0
// Errors are values: every call that can fail returns Result<T> or Status, and nothing throws across a module.
#pragma once

#include <expected>

#include "base/std.hpp"

namespace ullage {

enum class ErrorKind {
  bad_plan,      // exit 2: the document is wrong; `where` is a JSON pointer
  environment,   // exit 3: the machine is not what the plan needs
  io,            // a call on storage failed; `errno_value`, `path` and `operation` say how
  mpi,           // an MPI call failed; `text` is the library's own
  verification,  // data came back that was not written; `offset_bytes`, `expected`, `found`
  unsupported,   // this backend cannot do that
  interrupted,
  timeout,
};

struct Error {
  // Compiled in result.cpp, not in each file that returns one.
  Error();
  Error(const Error&);
  Error(Error&&) noexcept;
  Error& operator=(const Error&);
  Error& operator=(Error&&) noexcept;
  ~Error();

  ErrorKind kind = ErrorKind::io;
  int errno_value = 0;
  std::string operation;  // open, write, read, sync, close, remove ...
  std::string where;      // path or JSON pointer
  std::string text;       // one line for people
  std::optional<std::uint64_t> offset_bytes;
  std::string expected;
  std::string found;
  bool is_of_another_rank = false;  // which tells it itself
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

/// errno as an Error; the text is strerror's.
[[nodiscard]] Error errno_error(int errno_value, std::string operation, std::string path,
                                std::optional<std::uint64_t> offset_bytes = std::nullopt);
[[nodiscard]] Error bad_plan(std::string pointer, std::string text);
[[nodiscard]] Error environment_error(std::string where, std::string text);
/// Data that is not what it must be. `expected` and `found` say it in short, where there is more to it than the text.
[[nodiscard]] Error verification_error(std::string operation, std::string where, std::string text,
                                       std::string expected = {}, std::string found = {});
[[nodiscard]] Error unsupported(std::string operation, std::string text);

/// One line: "write /a/b at offset 4096: No space left on device (errno 28)".
[[nodiscard]] std::string to_line(const Error& error);

[[nodiscard]] inline std::unexpected<Error> fail(Error error) { return std::unexpected<Error>(std::move(error)); }

/// Moves what a result holds to its place, or returns the error.
template <class To, class From>
[[nodiscard]] Status take_into(To& place, Result<From> result) {
  if (!result) return fail(std::move(result.error()));
  place = std::move(*result);
  return {};
}

/// Of the errors of several steps the first counts.
inline void keep_first(Status& first, Status next) {
  if (first && !next) first = std::move(next);
}

}  // namespace ullage
