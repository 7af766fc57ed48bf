// SPDX-License-Identifier: Apache-2.0
#include "memory/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <charconv>
#include <string>

#include "base/procfs.hpp"
#include "base/resources.hpp"
#include "memory/numa.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t huge_page = std::uint64_t{2} << 20U;
constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, Linux 5.14; libc's headers may be older

std::uint64_t page_size() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

std::uint64_t whole(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

Error no_room(std::uint64_t bytes, int why) {
  Error error = errno_error(why, "get", "memory");
  error.text = std::to_string(bytes) + " bytes cannot be allocated: " + error.text;
  return error;
}

bool has_transparent_pages() {
  const auto choices = read_word("/sys/kernel/mm/transparent_hugepage/enabled");
  return choices && chosen_word(*choices) != "never";
}

/// Maps over `memory`, whose addresses are reserved.
bool map_over(std::span<std::byte> memory, int flags) {
  return mmap(memory.data(), memory.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | flags, -1,
              0) != MAP_FAILED;
}

/// Where huge pages are a pool set aside, the kernel reserves them with the mapping, and refuses when it has too few.
bool map_pages(std::span<std::byte> memory, Pages pages) {
  if (pages == Pages::huge && !has_transparent_pages() && map_over(memory, MAP_HUGETLB)) return true;
  if (!map_over(memory, 0)) return false;
  // Advice: what it led to is seen in huge_bytes().
  if (pages == Pages::huge) (void)madvise(memory.data(), memory.size(), MADV_HUGEPAGE);
  if (pages == Pages::small) (void)madvise(memory.data(), memory.size(), MADV_NOHUGEPAGE);
  return true;
}

std::optional<std::uintptr_t> address(std::string_view text) {
  std::uintptr_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "7f00-7f10 rw-p ..." -> whether that lies between two addresses; nothing for other lines.
std::optional<bool> lies_within(std::string_view line, std::uintptr_t begin, std::uintptr_t end) {
  const auto words = words_of(line);
  if (words.empty()) return std::nullopt;
  const std::size_t dash = words[0].find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = address(words[0].substr(0, dash));
  const auto last = address(words[0].substr(dash + 1));
  if (!first || !last) return std::nullopt;
  return *first >= begin && *last <= end;
}

}  // namespace

Words<Pages> pages_words() { return {{Pages::system, "default"}, {Pages::small, "small"}, {Pages::huge, "huge"}}; }

Result<Region> Region::map(std::uint64_t bytes, Pages pages, int node) {
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

Region& Region::operator=(Region&& other) noexcept {
  std::swap(reserved_, other.reserved_);
  std::swap(memory_, other.memory_);
  return *this;
}

Region::~Region() {
  if (!reserved_.empty()) munmap(reserved_.data(), reserved_.size());
}

Status Region::touch(std::span<std::byte> part) const {
  if (part.empty()) return {};
  const std::uint64_t page = page_size();
  const auto offset = static_cast<std::uint64_t>(part.data() - memory_.data());
  const std::uint64_t first = offset / page * page;
  const std::span pages = memory_.subspan(first, whole(offset + part.size(), page) - first);
  if (madvise(pages.data(), pages.size(), populate_write) == 0) return {};
  if (errno != EINVAL) return fail(no_room(part.size(), errno));
  // A kernel before 5.14. The value stays, since a neighbour may be using the first or the last page.
  for (std::size_t at = 0; at < pages.size(); at += page)
    std::atomic_ref(reinterpret_cast<std::uint8_t&>(pages[at])).fetch_or(0, std::memory_order_relaxed);
  return {};
}

std::uint64_t Region::huge_bytes() const {
  const auto begin = std::bit_cast<std::uintptr_t>(memory_.data());
  return parse_huge_bytes(read_text("/proc/self/smaps").value_or(""), begin, begin + memory_.size());
}

std::uint64_t parse_huge_bytes(std::string_view smaps, std::uintptr_t begin, std::uintptr_t end) {
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

}  // namespace ullage
