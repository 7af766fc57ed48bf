// SPDX-License-Identifier: Apache-2.0
#include "storage/backends/hdf5_types.hpp"

#include <algorithm>
#include <cstddef>

namespace ullage {

std::vector<HdfSize> hdf5_chunk(const ArraySpec& spec, std::uint64_t chunk_bytes) {
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

namespace {

constexpr int class_of_records = 6;  // H5T_COMPOUND

}  // namespace

HdfId Hdf5Types::number(ElementType type) const {
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

HdfId Hdf5Types::of(const ArraySpec& spec) { return spec.fields.empty() ? number(spec.type) : record(spec.fields); }

HdfId Hdf5Types::record(std::span<const RecordField> fields) {
  const auto known =
      std::ranges::find_if(records_, [fields](const Known& one) { return std::ranges::equal(one.fields, fields); });
  if (known != records_.end()) return known->type.get();
  Hdf5Handle type(calls_.create_type(class_of_records, static_cast<std::size_t>(bytes_of(fields))), calls_.close_type);
  std::size_t offset = 0;
  for (const RecordField& field : fields) {
    if (!type || calls_.insert_field(type.get(), field.name.c_str(), offset, number(field.type)) < 0) return -1;
    offset += static_cast<std::size_t>(bytes_of(field.type));
  }
  records_.push_back({{fields.begin(), fields.end()}, std::move(type)});
  return records_.back().type.get();
}

}  // namespace ullage
