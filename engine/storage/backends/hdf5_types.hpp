// SPDX-License-Identifier: Apache-2.0
// The library's types of numbers and of records, its identifiers, and the chunks of its arrays.
#pragma once

#include "base/std.hpp"
#include "storage/array_file.hpp"
#include "storage/hdf5_library.hpp"

namespace ullage {

/// The dimensions of a chunk: as many whole rows as `chunk_bytes` holds. Where it holds none, a chunk is part of a row,
/// cut along its slowest dimensions, and has one element at least.
[[nodiscard]] inline std::vector<HdfSize> hdf5_chunk(const ArraySpec& spec, std::uint64_t chunk_bytes) {
  std::vector<HdfSize> chunk(spec.dimensions.begin(), spec.dimensions.end());
  std::uint64_t bytes = spec.size_bytes();
  for (HdfSize& extent : chunk) {
    extent = std::max<HdfSize>(extent, 1);
    bytes = std::max<std::uint64_t>(bytes / extent, 1);
    const std::uint64_t held = chunk_bytes / bytes;
    extent = std::clamp<HdfSize>(held, 1, extent);
    if (held > 0) break;
  }
  return chunk;
}

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

inline constexpr int class_of_records = 6;  // H5T_COMPOUND

class Hdf5Types final {
 public:
  explicit Hdf5Types(const Hdf5Calls& calls) : calls_(calls) {}

  [[nodiscard]] HdfId number(ElementType type) const {
    switch (type) {
      case ElementType::byte:
        return *calls_.byte_type;
      case ElementType::int32:
        return *calls_.int32_type;
      case ElementType::float32:
        return *calls_.float32_type;
      case ElementType::float64:
        break;
    }
    return *calls_.float64_type;
  }

  /// Returns the type of an array's elements; below 0 where the library refuses. It lives as long as this.
  [[nodiscard]] HdfId of(const ArraySpec& spec) {
    return spec.fields.empty() ? number(spec.type) : record(spec.fields);
  }

  /// Returns the type of a record, made when it is first asked for.
  [[nodiscard]] HdfId record(std::span<const RecordField> fields) {
    const auto known =
        std::ranges::find_if(records_, [fields](const Known& one) { return std::ranges::equal(one.fields, fields); });
    if (known != records_.end()) return known->type.get();
    Hdf5Handle type(calls_.create_type(class_of_records, static_cast<std::size_t>(bytes_of(fields))),
                    calls_.close_type);
    std::size_t offset = 0;
    for (const RecordField& field : fields) {
      if (!type || calls_.insert_field(type.get(), field.name.c_str(), offset, number(field.type)) < 0) return -1;
      offset += static_cast<std::size_t>(bytes_of(field.type));
    }
    records_.push_back({{fields.begin(), fields.end()}, std::move(type)});
    return records_.back().type.get();
  }

 private:
  struct Known {
    std::vector<RecordField> fields;
    Hdf5Handle type;
  };

  const Hdf5Calls& calls_;
  std::vector<Known> records_;
};

}  // namespace ullage
