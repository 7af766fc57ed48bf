// SPDX-License-Identifier: Apache-2.0
#include "run/sign_of_life.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace ullage {

SignOfLife::SignOfLife(const std::string& records, bool is_given) : path_(records + ".alive") {
  if (!is_given) return;
  file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  give();
}

SignOfLife::~SignOfLife() {
  if (file_) (void)unlink(path_.c_str());
}

void SignOfLife::give() {
  if (!file_) return;
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%020llu\n", static_cast<unsigned long long>(++signs_));
  if (pwrite(file_.get(), text.data(), static_cast<std::size_t>(length), 0) != length) return;
}

}  // namespace ullage
