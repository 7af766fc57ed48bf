// SPDX-License-Identifier: Apache-2.0
#include "base/aligned_buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace ullage {
namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

}  // namespace

AlignedBuffer::AlignedBuffer(std::size_t size_bytes, std::size_t alignment) : size_(size_bytes) {
  if (size_bytes == 0) return;
  const bool large = size_bytes >= huge_page_bytes;
  if (large) alignment = std::max(alignment, huge_page_bytes);
  const std::size_t whole = (size_bytes + alignment - 1) / alignment * alignment;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, whole)));
  if (!data_) throw std::bad_alloc();
  // Direct I/O pins a transfer page by page and hands the device a segment for each: fewer of both. Advice, no need.
  if (large) (void)madvise(data_.get(), whole, MADV_HUGEPAGE);
  std::memset(data_.get(), 0, whole);
}

}  // namespace ullage
