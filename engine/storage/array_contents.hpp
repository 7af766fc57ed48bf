// SPDX-License-Identifier: Apache-2.0
// What stands in arrays of numbers: numbers between 1 and 2 that follow from dataset, array and place, so that each
// element that is read again is known to be right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "storage/array_file.hpp"

namespace ullage {

/// The elements of one array from one place on, as they lie in memory: one behind the other, or `stride_bytes` apart.
struct ElementRun {
  std::uint64_t key = 0;  // of the dataset
  std::size_t array = 0;
  ElementType type = ElementType::float64;
  std::uint64_t first_element = 0;  // of the whole array
  std::size_t stride_bytes = 0;     // from an element to the next; 0: an element's own size

  [[nodiscard]] std::size_t stride() const {
    return stride_bytes > 0 ? stride_bytes : static_cast<std::size_t>(bytes_of(type));
  }
  /// Elements that memory of so many bytes holds.
  [[nodiscard]] std::uint64_t elements_in(std::size_t bytes) const {
    const auto element = static_cast<std::size_t>(bytes_of(type));
    return bytes < element ? 0 : (bytes - element) / stride() + 1;
  }
};

/// An element that is not what it must be; its number within the run.
struct WrongElement {
  std::uint64_t element = 0;
  std::string expected;  // as numbers in base 16
  std::string found;
};

struct ElementCheck {
  std::uint64_t wrong_elements = 0;
  std::optional<WrongElement> first;
};

void fill_elements(const ElementRun& run, std::span<std::byte> data);
[[nodiscard]] ElementCheck check_elements(const ElementRun& run, std::span<const std::byte> data);
/// Bytes that no array holds.
void poison_elements(std::span<std::byte> data);

}  // namespace ullage
