// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/count.hpp"
#include "base/resources.hpp"
#include "base/std.hpp"

namespace ullage {

/// Of the buffers of I/O: a page, and a block of most file systems.
inline constexpr std::size_t buffer_alignment = 4096;

/// Says how the memory of a buffer goes back: as a mapping, where it is one.
struct BufferRelease {
  void* base = nullptr;
  std::size_t mapped_bytes = 0;

  void operator()(std::byte* data) const noexcept {
    if (mapped_bytes > 0)
      munmap(base, mapped_bytes);
    else
      std::free(data);
  }
};

inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

// From here on a whole huge page is no waste that matters, and several transfers of direct I/O lie in one.
inline constexpr std::size_t least_huge_bytes = std::size_t{128} << 10;

inline std::byte* map_huge(std::size_t whole, BufferRelease& release) {
  const std::size_t mapped = whole + huge_page_bytes;
  void* const base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  release = {base, mapped};
  const auto start = reinterpret_cast<std::uintptr_t>(base);
  std::byte* const data = static_cast<std::byte*>(base) + (round_up(start, huge_page_bytes) - start);
  // Direct I/O pins a transfer page by page and hands the device a segment for each: fewer of both. Advice, no need.
  (void)madvise(data, whole, MADV_HUGEPAGE);
  return data;
}

/// Zeroed memory aligned to `alignment` (a power of two), touched page by page by the thread that makes it, so that no
/// first fault falls into a timer and the pages lie on that thread's NUMA node; from 128 KiB on of huge pages, where
/// the system gives them, and locked, where its limits let us. Throws std::bad_alloc, like any container, when there is
/// not that much.
class AlignedBuffer final {
 public:
  AlignedBuffer() = default;

  explicit AlignedBuffer(std::size_t size_bytes, std::size_t alignment = buffer_alignment) : size_(size_bytes) {
    if (size_bytes == 0) return;
    const bool large = size_bytes >= least_huge_bytes && alignment <= huge_page_bytes;
    const std::size_t whole = round_up(size_bytes, large ? huge_page_bytes : alignment);
    if (!is_memory_available(whole)) throw std::bad_alloc();
    BufferRelease release;
    std::byte* const data =
        large ? map_huge(whole, release) : static_cast<std::byte*>(std::aligned_alloc(alignment, whole));
    data_ = {data, release};
    if (!data_) throw std::bad_alloc();
    std::memset(data, 0, whole);
    // Kept from being swapped or dropped between a phase and the next, as far as the limit of locked memory goes.
    if (large) (void)mlock(data, whole);
  }

  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {data_.get(), size_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_.get(), size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::unique_ptr<std::byte, BufferRelease> data_;
  std::size_t size_ = 0;
};

}  // namespace ullage
