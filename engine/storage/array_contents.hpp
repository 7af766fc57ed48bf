// SPDX-License-Identifier: Apache-2.0
// What stands in arrays of numbers: numbers between 1 and 2 that follow from dataset, array and place, so that each
// element that is read again is known to be right. And the header of such arrays in a plain file.
#pragma once

#include <cstring>

#include "base/hex.hpp"
#include "base/permutation.hpp"
#include "base/std.hpp"
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

inline constexpr std::uint64_t one_as_double = 0x3FF0000000000000U;
inline constexpr std::uint32_t one_as_float = 0x3F800000U;

template <class Word>
Word made(const ElementRun& run, std::uint64_t random) {
  if constexpr (sizeof(Word) == 8) return one_as_double | (random >> 12U);
  if (run.type == ElementType::float32) return one_as_float | static_cast<std::uint32_t>(random >> 41U);
  return static_cast<Word>(random >> 33U);  // an integer without a sign
}

/// Calls visit(element, word) for all elements of the run.
template <class Word, class Visit>
void for_each_element(const ElementRun& run, std::size_t bytes, const Visit& visit) {
  const std::uint64_t key = mix64(run.key + 0x9E3779B97F4A7C15U * (run.array + 1));
  const std::uint64_t elements = run.elements_in(bytes);
  for (std::uint64_t i = 0; i < elements; ++i) visit(i, made<Word>(run, mix64(key ^ (run.first_element + i))));
}

template <class Word>
void fill_words(const ElementRun& run, std::span<std::byte> data) {
  const std::size_t stride = run.stride();
  for_each_element<Word>(
      run, data.size(), [&](std::uint64_t i, Word word) { std::memcpy(data.data() + i * stride, &word, sizeof word); });
}

inline void fill_elements(const ElementRun& run, std::span<std::byte> data) {
  if (bytes_of(run.type) == 8)
    fill_words<std::uint64_t>(run, data);
  else
    fill_words<std::uint32_t>(run, data);
}

template <class Word>
ElementCheck check_words(const ElementRun& run, std::span<const std::byte> data) {
  ElementCheck check;
  const std::size_t stride = run.stride();
  for_each_element<Word>(run, data.size(), [&](std::uint64_t i, Word word) {
    const auto found = data.subspan(i * stride, sizeof word);
    if (std::memcmp(found.data(), &word, sizeof word) == 0) return;
    if (check.wrong_elements++ == 0)
      check.first =
          WrongElement{i, hex_of(std::as_bytes(std::span(&word, 1)), sizeof word), hex_of(found, sizeof word)};
  });
  return check;
}

[[nodiscard]] inline ElementCheck check_elements(const ElementRun& run, std::span<const std::byte> data) {
  return bytes_of(run.type) == 8 ? check_words<std::uint64_t>(run, data) : check_words<std::uint32_t>(run, data);
}

inline constexpr int poison_byte_of_elements = 0xFF;  // not a number, and the integer -1

/// Bytes that no array holds.
inline void poison_elements(std::span<std::byte> data) {
  std::memset(data.data(), poison_byte_of_elements, data.size());
}

// The header of a file of a format of ours: written when the file is opened, and compared when it is read. Not counted
// by any meter.

struct FileHeader {
  std::string text;         // of the header's whole length
  std::string name;         // of the file, for errors
  bool collective = false;  // operations of the file are
  bool holds_data = true;   // what is read can be what was written
  bool writes = true;       // this rank writes it
};

inline Status move_uncounted(File& file, Direction direction, const Extent& extent) {
  Meter unused;
  unused.use_histogram(false);
  unused.start(now_ns());
  return file.transfer(direction, {&extent, 1}, unused);
}

/// Writes it, at the beginning of the file. In a collective file every rank takes part, with nothing where it does not
/// write.
[[nodiscard]] inline Status write_header(File& file, FileHeader header) {
  if (!header.writes && !header.collective) return {};
  const std::size_t length = header.writes ? header.text.size() : 0;
  return move_uncounted(file, Direction::write, {0, length, reinterpret_cast<std::byte*>(header.text.data())});
}

/// An error with the offset of the first difference where the file has another one.
[[nodiscard]] inline Status read_header(File& file, const FileHeader& header) {
  std::string found(header.text.size(), '?');
  auto status = move_uncounted(file, Direction::read, {0, found.size(), reinterpret_cast<std::byte*>(found.data())});
  if (!status || !header.holds_data || found == header.text) return status;
  const auto at = static_cast<std::uint64_t>(std::ranges::mismatch(found, header.text).in1 - found.begin());
  Error error = verification_error("verify", header.name, "the header differs from what was written");
  error.offset_bytes = at;
  return fail(std::move(error));
}

/// Opens a file through the backend with its header: written, or where the request says `read` compared.
[[nodiscard]] inline Result<std::unique_ptr<File>> open_with_header(Backend& backend, const OpenRequest& request,
                                                                    const FileHeader& header) {
  auto file = backend.open(request);
  if (!file) return file;
  const Status status = request.mode == OpenMode::read ? read_header(**file, header) : write_header(**file, header);
  if (status) return file;
  (void)(*file)->close();  // the other ranks close it too: the phase has failed
  return fail(status.error());
}

}  // namespace ullage
