// SPDX-License-Identifier: Apache-2.0
// What tests of files with views share. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::test {

/// Eight bytes each that say who wrote them, and as which of his.
class Words64 final {
 public:
  Words64(int rank, std::uint64_t first, std::size_t count) : words_(count) {
    for (std::size_t i = 0; i < count; ++i) words_[i] = (static_cast<std::uint64_t>(rank + 1) << 32U) + first + i;
  }
  [[nodiscard]] std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(words_)); }
  void poison() { std::ranges::fill(words_, 0xeeeeeeeeeeeeeeeeU); }
  [[nodiscard]] bool operator==(const Words64&) const = default;

 private:
  std::vector<std::uint64_t> words_;
};

inline std::unique_ptr<ViewedFile> opened_viewed(Backend& backend, OpenMode mode, bool shared = true,
                                                 const std::string& name = "f") {
  auto file = backend.open_viewed({name, mode, shared, 0, true}, {});
  EXPECT_TRUE(file) << line_of(file);
  return file ? std::move(*file) : nullptr;
}

/// `calls` calls of five words each.
inline Status write_words(ViewedFile& file, Pointer pointer, int rank, std::uint64_t calls) {
  Status first;
  for (std::uint64_t call = 0; call < calls; ++call) {
    Words64 words(rank, call * 5, 5);
    if (const Status moved = file.move(Direction::write, pointer, words.bytes()); first && !moved) first = moved;
  }
  return first;
}

/// Reads those back and says how many of the calls gave something else.
inline std::uint64_t wrong_calls(ViewedFile& file, Pointer pointer, int rank, std::uint64_t calls) {
  std::uint64_t wrong = 0;
  for (std::uint64_t call = 0; call < calls; ++call) {
    const Words64 expected(rank, call * 5, 5);
    Words64 words = expected;
    words.poison();
    const bool moved = file.move(Direction::read, pointer, words.bytes()).has_value();
    wrong += moved && words == expected ? 0 : 1;
  }
  return wrong;
}

}  // namespace ullage::test
