// SPDX-License-Identifier: Apache-2.0
// Operations on names that are handed over at once, with all that they point to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/metadata.hpp"

namespace ullage {

/// Directory handles and names of one batch of operations, kept until the next one.
class MetadataBatch final {
 public:
  explicit MetadataBatch(MetadataApi& api, std::string dataset_directory)
      : api_(api), dataset_directory_(std::move(dataset_directory)) {}
  MetadataBatch(const MetadataBatch&) = delete;
  MetadataBatch& operator=(const MetadataBatch&) = delete;
  ~MetadataBatch() { forget_directories(); }

  /// Readies for new items; handles stay unless there are many.
  void clear();
  /// The handle of a directory, relative to the dataset's own ("": that itself).
  [[nodiscard]] Result<int> directory(const std::string& path);
  [[nodiscard]] bool full() const noexcept {
    return directories_.size() >= most_directories || text_.size() >= most_text_bytes;
  }
  /// The names are copied.
  void add(int directory, std::string_view name, std::string_view new_name, std::span<std::byte> data);
  /// Good until the next clear() or add().
  [[nodiscard]] std::span<const MetadataItem> items();

 private:
  static constexpr std::size_t most_directories = 256;
  static constexpr std::size_t most_text_bytes = std::size_t{8} << 20;
  struct Names {
    std::uint32_t name = 0;  // where they begin in the text
    std::uint32_t new_name = 0;
  };
  [[nodiscard]] std::uint32_t keep(std::string_view name);
  void forget_directories();
  MetadataApi& api_;
  std::string dataset_directory_;
  std::map<std::string, int> directories_;
  std::string text_;  // all names one after the other, since operations go through them in order
  std::vector<Names> names_;
  std::vector<MetadataItem> items_;
};

}  // namespace ullage
