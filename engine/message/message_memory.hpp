// SPDX-License-Identifier: Apache-2.0
// The memory that messages are sent from and received into, and the kind of pages it lies in.
#pragma once

#include <new>

#include "base/count.hpp"
#include "base/json.hpp"
#include "base/resources.hpp"
#include "base/std.hpp"
#include "memory/pages.hpp"
#include "mpi/comm.hpp"

namespace ullage {

/// Copies between ranks of a node are up to twice as fast in huge pages, so whoever holds a number against that of a
/// program which asks for nothing asks for nothing.
struct MessagePages {
  Pages pages = Pages::system;

  [[nodiscard]] static Table<MessagePages> table() {
    return {choice("pages", &MessagePages::pages,
                   "Choose the pages of the messages' memory: those that the system gives by default, small ones only, "
                   "or huge ones on request. Fact `pages` says what the memory got.")};
  }
};

inline constexpr std::size_t smallest_huge_page = std::size_t{2} << 20;

/// Zeroed, and touched page by page by the rank that makes it. Throws std::bad_alloc, like any container, when there is
/// not that much.
class MessageMemory final {
 public:
  MessageMemory() = default;

  MessageMemory(std::size_t size_bytes, Pages pages) : size_(size_bytes) {
    if (size_bytes == 0) return;
    auto region = Region::map(size_bytes, pages);
    if (!region || !region->touch(region->bytes())) throw std::bad_alloc();
    region_ = std::move(*region);
  }

  [[nodiscard]] std::span<std::byte> bytes() const {
    return region_ ? region_->bytes().first(size_) : std::span<std::byte>{};
  }

  /// Returns how much of it lies in huge pages, by the kernel's account.
  [[nodiscard]] std::uint64_t huge_bytes() const {
    return region_ && region_->bytes().size() >= smallest_huge_page ? region_->huge_bytes() : 0;
  }

 private:
  std::size_t size_ = 0;
  std::optional<Region> region_;
};

/// Every rank has found room on its node before any of them takes it. Throws where the ranks there, which take
/// `rank_bytes` each, have not got it.
inline void find_room_on_node(const mpi::World& world, Count rank_bytes) {
  const auto ranks_here = static_cast<std::uint64_t>(world.topology().ranks_on_node);
  if (Status fits = check_room("message_bytes", rank_bytes * ranks_here); !fits)
    throw ResourceError(std::move(fits.error()));
}

/// The fact `pages` of a record: which were asked for, how much memory messages have on this rank, and how much of it
/// lies in huge pages.
[[nodiscard]] inline nlohmann::json pages_json(Pages asked, const MessageMemory& out, const MessageMemory& in) {
  return {{"asked", word_of(asked)},
          {"bytes", out.bytes().size() + in.bytes().size()},
          {"huge_bytes", out.huge_bytes() + in.huge_bytes()}};
}

}  // namespace ullage
