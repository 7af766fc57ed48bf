// SPDX-License-Identifier: Apache-2.0
// Where each state of a log lies in it: written behind the last state, read before the first one is needed. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

namespace ullage {

/// A count, an offset for each step and a checksum, in words of 8 bytes of this machine's order.
class LogIndex final {
 public:
  explicit LogIndex(std::uint64_t steps) : offsets_(steps, absent) {}

  void put(std::uint64_t step, std::uint64_t offset_bytes) { offsets_[step] = offset_bytes; }
  [[nodiscard]] bool has(std::uint64_t step) const { return step < offsets_.size() && offsets_[step] != absent; }
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t step) const { return offsets_[step]; }

  /// A multiple of `alignment`.
  [[nodiscard]] static std::size_t bytes(std::uint64_t steps, std::size_t alignment);
  /// `place` holds at least bytes(steps, 1); what is left of it becomes zeros.
  void encode(std::span<std::byte> place) const;
  /// The error is a clause that says what is wrong.
  [[nodiscard]] static std::expected<LogIndex, std::string> decode(std::span<const std::byte> place,
                                                                   std::uint64_t steps);

 private:
  static constexpr std::uint64_t absent = ~std::uint64_t{0};
  std::vector<std::uint64_t> offsets_;
};

}  // namespace ullage
