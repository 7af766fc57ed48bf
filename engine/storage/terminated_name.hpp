// SPDX-License-Identifier: Apache-2.0
// A name as the system takes and gives it: characters with a NUL behind them, whose number is known.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace ullage {

/// Does not own its characters. Made from text that has its NUL, implicitly: it says no more than the text did.
class TerminatedName final {
 public:
  TerminatedName(const char* text) : text_(text), length_(std::strlen(text)) {}
  TerminatedName(const std::string& text) : text_(text.c_str()), length_(text.size()) {}
  [[nodiscard]] const char* c_str() const noexcept { return text_; }
  [[nodiscard]] std::size_t size() const noexcept { return length_; }
  [[nodiscard]] std::string_view view() const noexcept { return {text_, length_}; }

 private:
  const char* text_;
  std::size_t length_;
};

}  // namespace ullage
