// SPDX-License-Identifier: Apache-2.0
// What stands in arrays of numbers: numbers between 1 and 2 that follow from dataset, array and place, so that each
// element that is read again is known to be right. And the header of such arrays in a plain file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "storage/array_file.hpp"
#include "storage/backend.hpp"

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

// The header of a file of a format of ours: written when the file is opened, and compared when it is read. Not counted
// by any meter.

struct FileHeader {
  std::string text;         // of the header's whole length
  std::string name;         // of the file, for errors
  bool collective = false;  // operations of the file are
  bool holds_data = true;   // what is read can be what was written
  bool writes = true;       // this rank writes it
};

/// Writes it, at the beginning of the file. In a collective file every rank takes part, with nothing where it does not
/// write.
[[nodiscard]] Status write_header(File& file, FileHeader header);
/// An error with the offset of the first difference where the file has another one.
[[nodiscard]] Status read_header(File& file, const FileHeader& header);

/// Opens a file through the backend with its header: written, or where the request says `read` compared.
[[nodiscard]] Result<std::unique_ptr<File>> open_with_header(Backend& backend, const OpenRequest& request,
                                                             const FileHeader& header);

}  // namespace ullage
