// SPDX-License-Identifier: Apache-2.0
#include "base/result.hpp"

#include <system_error>

namespace ullage {

Error::Error() = default;
Error::Error(const Error&) = default;
Error::Error(Error&&) noexcept = default;
Error& Error::operator=(const Error&) = default;
Error& Error::operator=(Error&&) noexcept = default;
Error::~Error() = default;

Error errno_error(int errno_value, std::string operation, std::string path, std::optional<std::uint64_t> offset_bytes) {
  Error error;
  error.kind = ErrorKind::io;
  error.errno_value = errno_value;
  error.operation = std::move(operation);
  error.where = std::move(path);
  error.text = std::generic_category().message(errno_value);
  error.offset_bytes = offset_bytes;
  return error;
}

Error verification_error(std::string operation, std::string where, std::string text, std::string expected,
                         std::string found) {
  Error error;
  error.kind = ErrorKind::verification;
  error.operation = std::move(operation);
  error.where = std::move(where);
  error.text = std::move(text);
  error.expected = std::move(expected);
  error.found = std::move(found);
  return error;
}

Error bad_plan(std::string pointer, std::string text) {
  Error error;
  error.kind = ErrorKind::bad_plan;
  error.where = std::move(pointer);
  error.text = std::move(text);
  return error;
}

Error environment_error(std::string where, std::string text) {
  Error error;
  error.kind = ErrorKind::environment;
  error.where = std::move(where);
  error.text = std::move(text);
  return error;
}

Error unsupported(std::string operation, std::string text) {
  Error error;
  error.kind = ErrorKind::unsupported;
  error.operation = std::move(operation);
  error.text = std::move(text);
  return error;
}

std::string to_line(const Error& error) {
  std::string line = error.operation;
  if (!error.where.empty()) line += (line.empty() ? "" : " ") + error.where;
  if (error.offset_bytes) line += " at offset " + std::to_string(*error.offset_bytes);
  line += (line.empty() ? "" : ": ") + error.text;
  if (error.errno_value != 0) line += " (errno " + std::to_string(error.errno_value) + ")";
  if (!error.expected.empty()) line += "; expected " + error.expected + ", found " + error.found;
  return line;
}

}  // namespace ullage
