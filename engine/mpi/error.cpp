// SPDX-License-Identifier: Apache-2.0
#include "mpi/error.hpp"

#include <mpi.h>

#include <cerrno>
#include <cstdio>

#include "base/std.hpp"
#include "mpi/comm.hpp"

namespace ullage::mpi {
namespace {

constexpr int exit_aborted = 5;

}  // namespace

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  const std::string line = "ullage-engine: " + std::string(call) + " failed: " + error_text(code) + "\n";
  std::fputs(line.c_str(), stderr);
  abort_all(exit_aborted);
}

std::string error_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) return "MPI error " + std::to_string(code);
  return one_line(text.data());
}

int errno_of(int code) {
  int error_class = MPI_ERR_OTHER;
  if (MPI_Error_class(code, &error_class) != MPI_SUCCESS) return EIO;
  // Not a switch: in the standard ABI these are no constant expressions.
  const std::array<std::pair<int, int>, 10> known{{{MPI_ERR_NO_SPACE, ENOSPC},
                                                   {MPI_ERR_QUOTA, EDQUOT},
                                                   {MPI_ERR_NO_SUCH_FILE, ENOENT},
                                                   {MPI_ERR_FILE_EXISTS, EEXIST},
                                                   {MPI_ERR_ACCESS, EACCES},
                                                   {MPI_ERR_READ_ONLY, EROFS},
                                                   {MPI_ERR_BAD_FILE, EINVAL},
                                                   {MPI_ERR_FILE_IN_USE, EBUSY},
                                                   {MPI_ERR_UNSUPPORTED_OPERATION, EOPNOTSUPP},
                                                   {MPI_ERR_NO_MEM, ENOMEM}}};
  for (const auto& [mpi_class, errno_value] : known)
    if (mpi_class == error_class) return errno_value;
  return EIO;
}

Error io_error(int code, std::string operation, std::string path) {
  Error error = errno_error(errno_of(code), std::move(operation), std::move(path));
  error.text = error_text(code);
  return error;
}

std::string one_line(const std::string& text) {
  constexpr std::string_view blanks = " \t\r\v\f";
  std::string line;
  bool gap = false;
  for (const char c : text.substr(0, text.find_first_of(std::string_view("\n\0", 2)))) {
    if (blanks.contains(c)) {
      gap = !line.empty();
      continue;
    }
    if (gap) line += ' ';
    gap = false;
    line += c;
  }
  return line;
}

}  // namespace ullage::mpi
