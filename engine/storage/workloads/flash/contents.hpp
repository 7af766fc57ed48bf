// SPDX-License-Identifier: Apache-2.0
// What stands in the arrays: numbers between 1 and 2 that follow from dataset, array and place, so that each element
// that is read again is known to be right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "storage/array_file.hpp"

namespace ullage {

/// The elements of one array from one place on.
struct FlashRun {
  std::uint64_t key = 0;  // of the dataset
  std::size_t array = 0;
  ElementType type = ElementType::float64;
  std::uint64_t first_element = 0;  // of the whole array
};

/// An element that is not what it must be; its number within the run.
struct WrongElement {
  std::uint64_t element = 0;
  std::string expected;  // as numbers in base 16
  std::string found;
};

struct FlashCheck {
  std::uint64_t wrong_elements = 0;
  std::optional<WrongElement> first;
};

void fill_flash(const FlashRun& run, std::span<std::byte> data);
[[nodiscard]] FlashCheck check_flash(const FlashRun& run, std::span<const std::byte> data);
/// Bytes that no array holds.
void poison_flash(std::span<std::byte> data);

}  // namespace ullage
