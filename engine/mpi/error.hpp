// SPDX-License-Identifier: Apache-2.0
// MPI's return codes: fatal where only a programming or system error can cause them, values where storage can.
#pragma once

#include <string>

#include "base/result.hpp"

namespace ullage::mpi {

/// Passes on success; else one line on stderr that names `call`, and the end of all ranks.
void check(int code, const char* call);

/// The library's own text for a code, on one line.
[[nodiscard]] std::string error_text(int code);

/// The errno that says the same as the code's error class; EIO where there is none.
[[nodiscard]] int errno_of(int code);

/// A failed MPI-IO call as a value.
[[nodiscard]] Error io_error(int code, std::string operation, std::string path);

/// `text` up to its first newline or NUL, runs of blanks as one, none at the ends.
[[nodiscard]] std::string one_line(const std::string& text);

}  // namespace ullage::mpi
