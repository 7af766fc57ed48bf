// SPDX-License-Identifier: Apache-2.0
// The library's types of numbers and of records, its identifiers, and the chunks of its arrays.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "storage/array_file.hpp"
#include "storage/hdf5_library.hpp"

namespace ullage {

/// The dimensions of a chunk: as many whole rows as `chunk_bytes` holds. Where it holds none, a chunk is part of a row,
/// cut along its slowest dimensions, and has one element at least.
[[nodiscard]] std::vector<HdfSize> hdf5_chunk(const ArraySpec& spec, std::uint64_t chunk_bytes);

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

class Hdf5Types final {
 public:
  explicit Hdf5Types(const Hdf5Calls& calls) : calls_(calls) {}

  [[nodiscard]] HdfId number(ElementType type) const;
  /// Returns the type of an array's elements; below 0 where the library refuses. It lives as long as this.
  [[nodiscard]] HdfId of(const ArraySpec& spec);
  /// Returns the type of a record, made when it is first asked for.
  [[nodiscard]] HdfId record(std::span<const RecordField> fields);

 private:
  struct Known {
    std::vector<RecordField> fields;
    Hdf5Handle type;
  };

  const Hdf5Calls& calls_;
  std::vector<Known> records_;
};

}  // namespace ullage
