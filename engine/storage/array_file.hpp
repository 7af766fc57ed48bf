// SPDX-License-Identifier: Apache-2.0
// A file of named arrays, of which each rank moves rows: what self-describing formats have and plain files do not.
#pragma once

#include "base/meter.hpp"
#include "base/parameters.hpp"
#include "base/pinned.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
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

/// A number of a record, which goes by its name. A record's fields lie one behind the other.
struct RecordField {
  std::string name;
  ElementType type = ElementType::byte;

  [[nodiscard]] bool operator==(const RecordField&) const = default;
};

[[nodiscard]] inline std::uint64_t bytes_of(std::span<const RecordField> record) {
  std::uint64_t bytes = 0;
  for (const RecordField& field : record) bytes += bytes_of(field.type);
  return bytes;
}

/// An array of `dimensions`, the slowest first: that counts the rows. Its elements are numbers of `type` or, where
/// there are `fields`, records of them.
struct ArraySpec {
  std::string name;
  ElementType type = ElementType::byte;
  std::vector<std::uint64_t> dimensions;
  std::vector<RecordField> fields = {};

  [[nodiscard]] std::uint64_t rows() const { return dimensions.front(); }
  [[nodiscard]] std::uint64_t element_bytes() const { return fields.empty() ? bytes_of(type) : bytes_of(fields); }
  [[nodiscard]] std::uint64_t row_elements() const {
    std::uint64_t elements = 1;
    for (std::size_t d = 1; d < dimensions.size(); ++d) elements *= dimensions[d];
    return elements;
  }
  [[nodiscard]] std::uint64_t row_bytes() const { return element_bytes() * row_elements(); }
  [[nodiscard]] std::uint64_t size_bytes() const { return rows() * row_bytes(); }
};

/// Part of a dimension: elements [begin, begin + extent).
struct ArrayRange {
  std::uint64_t begin = 0;
  std::uint64_t extent = 0;
};

/// One operation: rows [first, first + rows) of an array, from or to `data`, which the caller owns and keeps. In memory
/// the rows lie one behind the other.
struct ArrayRows {
  std::size_t array = 0;
  std::uint64_t first = 0;
  std::uint64_t rows = 0;
  std::byte* data = nullptr;
  /// For an array of records of one dimension, says what each of them is in memory, where it is not as in the file. The
  /// library converts; fields that both have are moved. The caller keeps it as long as the file is open.
  std::span<const RecordField> memory = {};
  /// If not 0, the operation has runs of so many rows instead of one run, each `stride_rows` behind the one before it;
  /// 0: one run. `rows` is a multiple of it, and `first` the beginning of the first run.
  std::uint64_t run_rows = 0;
  std::uint64_t stride_rows = 0;
  /// If not empty, only this part of each row is moved: a range of every dimension but the first. Only files of a
  /// library that selects parts of arrays have it. The caller keeps it during the call.
  std::span<const ArrayRange> within = {};

  /// The row behind the last one.
  [[nodiscard]] std::uint64_t end() const {
    return run_rows == 0 || rows == 0 ? first + rows : first + (rows / run_rows - 1) * stride_rows + run_rows;
  }
};

/// Bytes of a row that an operation moves.
[[nodiscard]] inline std::uint64_t moved_row_bytes(const ArraySpec& spec, std::span<const RecordField> memory) {
  if (memory.empty()) return spec.row_bytes();
  std::uint64_t bytes = 0;
  for (const RecordField& wanted : memory)
    for (const RecordField& field : spec.fields) bytes += field == wanted ? bytes_of(field.type) : 0;
  return bytes;
}

/// Elements that an operation moves.
[[nodiscard]] inline std::uint64_t moved_elements(const ArraySpec& spec, const ArrayRows& rows) {
  if (rows.within.empty()) return rows.rows * spec.row_elements();
  std::uint64_t elements = rows.rows;
  for (const ArrayRange& range : rows.within) elements *= range.extent;
  return elements;
}

/// Bytes that an operation moves.
[[nodiscard]] inline std::uint64_t moved_bytes(const ArraySpec& spec, const ArrayRows& rows) {
  return rows.within.empty() ? rows.rows * moved_row_bytes(spec, rows.memory)
                             : moved_elements(spec, rows) * spec.element_bytes();
}

/// An open file of one rank, used by one thread, with the rules of File for errors, meters and collective calls.
class ArrayFile : public Interface {
 public:
  [[nodiscard]] virtual Status transfer(Direction direction, std::span<const ArrayRows> operations, Meter& meter) = 0;
  [[nodiscard]] virtual Status sync() = 0;
  [[nodiscard]] virtual Status close() = 0;
  /// Returns what the library says that it uses; see File.
  [[nodiscard]] virtual Map hints_granted() const { return {}; }
};

}  // namespace ullage
