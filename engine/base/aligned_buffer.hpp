// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace ullage {

/// Of the buffers of I/O: a page, and a block of most file systems.
inline constexpr std::size_t buffer_alignment = 4096;

/// Says how the memory of a buffer goes back: as a mapping, where it is one.
struct BufferRelease {
  void* base = nullptr;
  std::size_t mapped_bytes = 0;
  void operator()(std::byte* data) const noexcept;
};

/// Zeroed memory aligned to `alignment` (a power of two), touched page by page by the thread that makes it, so that no
/// first fault falls into a timer and the pages lie on that thread's NUMA node; from 128 KiB on of huge pages, where
/// the system gives them, and locked, where its limits let us. Throws std::bad_alloc, like any container, when there is
/// not that much.
class AlignedBuffer final {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t size_bytes, std::size_t alignment = buffer_alignment);
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {data_.get(), size_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_.get(), size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::unique_ptr<std::byte, BufferRelease> data_;
  std::size_t size_ = 0;
};

}  // namespace ullage
