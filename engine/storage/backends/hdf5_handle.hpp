// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "storage/hdf5_library.hpp"

namespace ullage {

/// An identifier of the library that closes itself.
class Hdf5Handle final {
 public:
  using Close = int (*)(HdfId);
  Hdf5Handle() = default;
  Hdf5Handle(HdfId id, Close closing) : id_(id), close_(closing) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() { (void)close(); }

  [[nodiscard]] HdfId get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  /// Stays open until the library ends.
  void leave() { id_ = -1; }
  /// Returns what the library said; success where there is nothing to close.
  [[nodiscard]] int close() { return id_ < 0 ? 0 : close_(std::exchange(id_, -1)); }

 private:
  HdfId id_ = -1;
  Close close_ = nullptr;
};

}  // namespace ullage
