// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace ullage {

/// Zeroed memory aligned to `alignment` (a power of two), touched page by page so that no first fault falls into a
/// timer; of huge pages from 2 MiB on, where the system gives them. Throws std::bad_alloc, like any container, when
/// there is not that much.
class AlignedBuffer final {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t size_bytes, std::size_t alignment = 4096);
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {data_.get(), size_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_.get(), size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace ullage
