// SPDX-License-Identifier: Apache-2.0
// The sign of life that rank 0 gives to whoever has started the launch: a number in a file beside the records.
#pragma once

#include <cstdint>
#include <string>

#include "storage/descriptor.hpp"

namespace ullage {

class SignOfLife final {
 public:
  /// `is_given`: on one rank of the launch. It gives the first sign at once, before any record can be written: a launch
  /// that is stopped later is missed then, however early. Where there is no room for the file, nobody is told.
  SignOfLife(const std::string& records, bool is_given);
  /// Removes the file.
  ~SignOfLife();
  SignOfLife(const SignOfLife&) = delete;
  SignOfLife& operator=(const SignOfLife&) = delete;

  /// Only one thread may call it.
  void give();

 private:
  const std::string path_;
  Descriptor file_;
  std::uint64_t signs_ = 0;
};

}  // namespace ullage
