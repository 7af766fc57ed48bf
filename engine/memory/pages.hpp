// SPDX-License-Identifier: Apache-2.0
// Memory straight from the kernel, with a say in its pages and its node.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <charconv>

#include "base/parameters.hpp"
#include "base/procfs.hpp"
#include "base/resources.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "memory/numa.hpp"

namespace ullage {

/// system: as the system does it; small: never huge pages; huge: transparent huge pages asked for, else those that the
/// administrator set aside.
enum class Pages { system, small, huge };

[[nodiscard]] inline Words<Pages> words_of(Pages) {
  return {{Pages::system, "default"}, {Pages::small, "small"}, {Pages::huge, "huge"}};
}

inline constexpr std::uint64_t huge_page = std::uint64_t{2} << 20U;
inline constexpr int advice_populate_write = 23;  // MADV_POPULATE_WRITE, Linux 5.14; libc's headers may be older

inline std::uint64_t page_size() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

inline std::uint64_t whole(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

inline Error no_room(std::uint64_t bytes, int why) {
  Error error = errno_error(why, "get", "memory");
  error.text = std::to_string(bytes) + " bytes cannot be allocated: " + error.text;
  return error;
}

inline bool has_transparent_pages() {
  const auto choices = read_word("/sys/kernel/mm/transparent_hugepage/enabled");
  return choices && chosen_word(*choices) != "never";
}

/// Maps over `memory`, whose addresses are reserved.
inline bool map_over(std::span<std::byte> memory, int flags) {
  return mmap(memory.data(), memory.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | flags, -1,
              0) != MAP_FAILED;
}

/// Where huge pages are a pool set aside, the kernel reserves them with the mapping, and refuses when it has too few.
inline bool map_pages(std::span<std::byte> memory, Pages pages) {
  if (pages == Pages::huge && !has_transparent_pages() && map_over(memory, MAP_HUGETLB)) return true;
  if (!map_over(memory, 0)) return false;
  // Advice: what it led to is seen in huge_bytes().
  if (pages == Pages::huge) (void)madvise(memory.data(), memory.size(), MADV_HUGEPAGE);
  if (pages == Pages::small) (void)madvise(memory.data(), memory.size(), MADV_NOHUGEPAGE);
  return true;
}

inline std::optional<std::uintptr_t> address(std::string_view text) {
  std::uintptr_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "7f00-7f10 rw-p ..." -> whether that lies between two addresses; nothing for other lines.
inline std::optional<bool> lies_within(std::string_view line, std::uintptr_t begin, std::uintptr_t end) {
  const auto words = words_of(line);
  if (words.empty()) return std::nullopt;
  const std::size_t dash = words[0].find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = address(words[0].substr(0, dash));
  const auto last = address(words[0].substr(dash + 1));
  if (!first || !last) return std::nullopt;
  return *first >= begin && *last <= end;
}

/// Bytes in huge pages between two addresses, out of the text of /proc/self/smaps (proc(5)).
[[nodiscard]] inline std::uint64_t parse_huge_bytes(std::string_view smaps, std::uintptr_t begin, std::uintptr_t end) {
  std::uint64_t kib = 0;
  bool ours = false;
  for (const std::string_view line : lines_of(smaps)) {
    if (const auto within = lies_within(line, begin, end)) {
      ours = *within;
      continue;
    }
    if (!ours) continue;
    for (const std::string_view key : {"AnonHugePages", "Private_Hugetlb", "Shared_Hugetlb"})
      kib += number_of_key(line, key).value_or(0);
  }
  return kib * 1024;
}

/// Zeroed pages, which nobody has touched yet: a page comes to lie with the thread that touches it first. Unmapped at
/// the end; neighbours cannot be merged with it in what the kernel reports.
class Region final {
 public:
  /// At least `bytes` >= 1, aligned to a huge page. `node` -1: any. An error when the system has no room for it or does
  /// not let us have the node.
  [[nodiscard]] static Result<Region> map(std::uint64_t bytes, Pages pages, int node = -1) {
    const std::uint64_t size = whole(bytes, pages == Pages::huge ? huge_page : page_size());
    // Pages that were set aside as huge ones are not in what the machine has left.
    if (pages != Pages::huge && !is_memory_available(size)) return fail(no_room(bytes, ENOMEM));
    // Room to align it, and at least a page that cannot be accessed on either side.
    const std::uint64_t reserved_size = size + 2 * huge_page;
    void* reserved = mmap(nullptr, reserved_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) return fail(no_room(bytes, errno));
    const std::uint64_t skipped = huge_page - std::bit_cast<std::uintptr_t>(reserved) % huge_page;
    const std::span all(static_cast<std::byte*>(reserved), reserved_size);
    Region region(all, all.subspan(skipped, size));
    if (!map_pages(region.memory_, pages)) return fail(no_room(bytes, errno));
    if (node >= 0)
      if (const Status bound = bind_to_node(region.memory_, node); !bound) return fail(bound.error());
    return region;
  }

  Region(Region&& other) noexcept
      : reserved_(std::exchange(other.reserved_, {})), memory_(std::exchange(other.memory_, {})) {}

  Region& operator=(Region&& other) noexcept {
    std::swap(reserved_, other.reserved_);
    std::swap(memory_, other.memory_);
    return *this;
  }

  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  ~Region() {
    if (!reserved_.empty()) munmap(reserved_.data(), reserved_.size());
  }

  [[nodiscard]] std::span<std::byte> bytes() const { return memory_; }

  /// Touches the pages of a part of it by the calling thread. An error where the system has none to give.
  [[nodiscard]] Status touch(std::span<std::byte> part) const {
    if (part.empty()) return {};
    const std::uint64_t page = page_size();
    const auto offset = static_cast<std::uint64_t>(part.data() - memory_.data());
    const std::uint64_t first = offset / page * page;
    const std::span pages = memory_.subspan(first, whole(offset + part.size(), page) - first);
    if (madvise(pages.data(), pages.size(), advice_populate_write) == 0) return {};
    if (errno != EINVAL) return fail(no_room(part.size(), errno));
    // A kernel before 5.14. The value stays, since a neighbour may be using the first or the last page.
    for (std::size_t at = 0; at < pages.size(); at += page)
      std::atomic_ref(reinterpret_cast<std::uint8_t&>(pages[at])).fetch_or(0, std::memory_order_relaxed);
    return {};
  }

  /// Returns how much of the touched memory lies in huge pages, by the kernel's account; 0 also where it keeps none.
  [[nodiscard]] std::uint64_t huge_bytes() const {
    const auto begin = std::bit_cast<std::uintptr_t>(memory_.data());
    return parse_huge_bytes(read_text("/proc/self/smaps").value_or(""), begin, begin + memory_.size());
  }

 private:
  Region(std::span<std::byte> reserved, std::span<std::byte> memory) : reserved_(reserved), memory_(memory) {}

  std::span<std::byte> reserved_;  // addresses, with what surrounds the memory
  std::span<std::byte> memory_;
};

}  // namespace ullage
