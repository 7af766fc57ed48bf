// SPDX-License-Identifier: Apache-2.0
// The library's types of numbers and of records.
#pragma once

#include <span>
#include <vector>

#include "storage/array_file.hpp"
#include "storage/backends/hdf5_handle.hpp"
#include "storage/hdf5_library.hpp"

namespace ullage {

class Hdf5Types final {
 public:
  explicit Hdf5Types(const Hdf5Calls& calls) : calls_(calls) {}

  [[nodiscard]] HdfId number(ElementType type) const;
  /// The type of an array's elements; below 0 where the library refuses. It lives as long as this.
  [[nodiscard]] HdfId of(const ArraySpec& spec);
  /// The type of a record, made when it is first asked for.
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
