// SPDX-License-Identifier: Apache-2.0
// Memory straight from the kernel, with a say in its pages and its node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/parameters.hpp"
#include "base/result.hpp"

namespace ullage {

/// system: as the system does it; small: never huge pages; huge: transparent huge pages asked for, else those that the
/// administrator set aside.
enum class Pages { system, small, huge };

[[nodiscard]] Words<Pages> pages_words();

/// Zeroed pages, which nobody has touched yet: a page comes to lie with the thread that touches it first. Unmapped at
/// the end; neighbours cannot be merged with it in what the kernel reports.
class Region final {
 public:
  /// At least `bytes` >= 1, aligned to a huge page. `node` -1: any. An error when the system has no room for it or does
  /// not let us have the node.
  [[nodiscard]] static Result<Region> map(std::uint64_t bytes, Pages pages, int node = -1);

  Region(Region&& other) noexcept
      : reserved_(std::exchange(other.reserved_, {})), memory_(std::exchange(other.memory_, {})) {}
  Region& operator=(Region&& other) noexcept;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region();

  [[nodiscard]] std::span<std::byte> bytes() const { return memory_; }
  /// Touches the pages of a part of it by the calling thread. An error where the system has none to give.
  [[nodiscard]] Status touch(std::span<std::byte> part) const;
  /// Returns how much of the touched memory lies in huge pages, by the kernel's account; 0 also where it keeps none.
  [[nodiscard]] std::uint64_t huge_bytes() const;

 private:
  Region(std::span<std::byte> reserved, std::span<std::byte> memory) : reserved_(reserved), memory_(memory) {}

  std::span<std::byte> reserved_;  // addresses, with what surrounds the memory
  std::span<std::byte> memory_;
};

/// Bytes in huge pages between two addresses, out of the text of /proc/self/smaps (proc(5)).
[[nodiscard]] std::uint64_t parse_huge_bytes(std::string_view smaps, std::uintptr_t begin, std::uintptr_t end);

}  // namespace ullage
