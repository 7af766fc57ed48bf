// SPDX-License-Identifier: Apache-2.0
#include "core/aligned_buffer.hpp"

#include <cstring>

namespace ullage {

AlignedBuffer::AlignedBuffer(std::size_t size_bytes, std::size_t alignment) : size_(size_bytes) {
  if (size_bytes == 0) return;
  const std::size_t whole = (size_bytes + alignment - 1) / alignment * alignment;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, whole)));
  if (!data_) throw std::bad_alloc();
  std::memset(data_.get(), 0, whole);
}

}  // namespace ullage
