// SPDX-License-Identifier: Apache-2.0
// How OpenBLAS is told whose kernels to take.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace ullage {

/// It looks while it is loaded, which is while this lives; then the variable is what it was. `core`: a word of
/// OPENBLAS_CORETYPE; empty: nothing is told.
class KernelChoice final {
 public:
  explicit KernelChoice(const std::string& core) : is_set_(!core.empty()) {
    if (const char* const found = std::getenv(variable); found != nullptr) before_ = found;
    if (is_set_) setenv(variable, core.c_str(), 1);
  }
  KernelChoice(const KernelChoice&) = delete;
  KernelChoice& operator=(const KernelChoice&) = delete;
  ~KernelChoice() {
    if (is_set_ && before_) setenv(variable, before_->c_str(), 1);
    if (is_set_ && !before_) unsetenv(variable);
  }

 private:
  static constexpr const char* variable = "OPENBLAS_CORETYPE";
  bool is_set_;
  std::optional<std::string> before_;
};

}  // namespace ullage
