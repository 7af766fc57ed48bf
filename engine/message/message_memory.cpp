// SPDX-License-Identifier: Apache-2.0
#include "message/message_memory.hpp"

#include <new>
#include <utility>

#include "base/json.hpp"

namespace ullage {
namespace {

constexpr std::size_t smallest_huge_page = std::size_t{2} << 20;

}  // namespace

Table<MessagePages> MessagePages::table() {
  return {choice("pages", &MessagePages::pages, pages_words(),
                 "Choose the pages of the messages' memory: those that the system gives by default, small ones only, "
                 "or huge ones on request. Fact `pages` says what the memory got.")};
}

MessageMemory::MessageMemory(std::size_t size_bytes, Pages pages) : size_(size_bytes) {
  if (size_bytes == 0) return;
  auto region = Region::map(size_bytes, pages);
  if (!region || !region->touch(region->bytes())) throw std::bad_alloc();
  region_ = std::move(*region);
}

std::span<std::byte> MessageMemory::bytes() const {
  return region_ ? region_->bytes().first(size_) : std::span<std::byte>{};
}

std::uint64_t MessageMemory::huge_bytes() const {
  return region_ && region_->bytes().size() >= smallest_huge_page ? region_->huge_bytes() : 0;
}

Json pages_json(Pages asked, const MessageMemory& out, const MessageMemory& in) {
  return {{"asked", detail::word_of(pages_words(), asked)},
          {"bytes", out.bytes().size() + in.bytes().size()},
          {"huge_bytes", out.huge_bytes() + in.huge_bytes()}};
}

}  // namespace ullage
