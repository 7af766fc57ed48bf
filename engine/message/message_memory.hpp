// SPDX-License-Identifier: Apache-2.0
// The memory that messages are sent from and received into, and the kind of pages it lies in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>

#include "memory/pages.hpp"

namespace ullage {

/// Copies between ranks of a node are up to twice as fast in huge pages, so whoever holds a number against that of a
/// program which asks for nothing asks for nothing.
struct MessagePages {
  Pages pages = Pages::system;

  [[nodiscard]] static Table<MessagePages> table();
};

/// Zeroed, and touched page by page by the rank that makes it. Throws std::bad_alloc, like any container, when there is
/// not that much.
class MessageMemory final {
 public:
  MessageMemory() = default;
  MessageMemory(std::size_t size_bytes, Pages pages);

  [[nodiscard]] std::span<std::byte> bytes() const;
  /// Returns how much of it lies in huge pages, by the kernel's account.
  [[nodiscard]] std::uint64_t huge_bytes() const;

 private:
  std::size_t size_ = 0;
  std::optional<Region> region_;
};

/// The fact `pages` of a record: which were asked for, how much memory messages have on this rank, and how much of it
/// lies in huge pages.
[[nodiscard]] nlohmann::json pages_json(Pages asked, const MessageMemory& out, const MessageMemory& in);

}  // namespace ullage
