// SPDX-License-Identifier: Apache-2.0
// A file of named arrays, of which each rank moves rows: what self-describing formats have and plain files do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/meter.hpp"
#include "base/parameters.hpp"
#include "base/result.hpp"
#include "storage/viewed_file.hpp"

namespace ullage {

enum class ElementType { byte, int32, float32, float64 };

[[nodiscard]] constexpr std::uint64_t bytes_of(ElementType type) {
  switch (type) {
    case ElementType::byte:
      return 1;
    case ElementType::int32:
    case ElementType::float32:
      return 4;
    case ElementType::float64:
      break;
  }
  return 8;
}

/// An array of `dimensions`, the slowest first: that counts the rows.
struct ArraySpec {
  std::string name;
  ElementType type = ElementType::byte;
  std::vector<std::uint64_t> dimensions;

  [[nodiscard]] std::uint64_t rows() const { return dimensions.front(); }
  [[nodiscard]] std::uint64_t row_bytes() const {
    std::uint64_t bytes = bytes_of(type);
    for (std::size_t d = 1; d < dimensions.size(); ++d) bytes *= dimensions[d];
    return bytes;
  }
  [[nodiscard]] std::uint64_t size_bytes() const { return rows() * row_bytes(); }
};

/// One operation: rows [first, first + rows) of an array, from or to `data`, which the caller owns and keeps.
struct ArrayRows {
  std::size_t array = 0;
  std::uint64_t first = 0;
  std::uint64_t rows = 0;
  std::byte* data = nullptr;
};

/// An open file of one rank, used by one thread, with the rules of File for errors, meters and collective calls.
class ArrayFile {
 public:
  ArrayFile() = default;
  ArrayFile(const ArrayFile&) = delete;
  ArrayFile& operator=(const ArrayFile&) = delete;
  virtual ~ArrayFile() = default;

  [[nodiscard]] virtual Status transfer(Direction direction, std::span<const ArrayRows> operations, Meter& meter) = 0;
  [[nodiscard]] virtual Status sync() = 0;
  [[nodiscard]] virtual Status close() = 0;
  /// What the library says that it uses.
  [[nodiscard]] virtual Map hints_granted() const { return {}; }
};

}  // namespace ullage
