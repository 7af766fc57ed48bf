// SPDX-License-Identifier: Apache-2.0
// Operations on names that are handed over at once, with all that they point to.
#pragma once

#include <map>

#include "base/pinned.hpp"
#include "base/std.hpp"
#include "storage/metadata.hpp"

namespace ullage {

/// Directory handles and names of one batch of operations, kept until the next one.
class MetadataBatch final : Pinned {
 public:
  explicit MetadataBatch(MetadataApi& api, std::string dataset_directory)
      : api_(api), dataset_directory_(std::move(dataset_directory)) {}
  ~MetadataBatch() { forget_directories(); }

  /// Readies for new items; handles stay unless there are many.
  void clear() {
    if (directories_.size() >= most_directories) forget_directories();
    text_.clear();
    names_.clear();
    items_.clear();
  }

  /// The handle of a directory, relative to the dataset's own ("": that itself).
  [[nodiscard]] Result<int> directory(const std::string& path) {
    if (const auto known = directories_.find(path); known != directories_.end()) return known->second;
    const auto handle = api_.enter(path.empty() ? dataset_directory_ : dataset_directory_ + "/" + path);
    if (handle) directories_.emplace(path, *handle);
    return handle;
  }

  [[nodiscard]] bool full() const noexcept {
    return directories_.size() >= most_directories || text_.size() >= most_text_bytes;
  }

  /// The names are copied.
  void add(int directory, std::string_view name, std::string_view new_name, std::span<std::byte> data) {
    names_.push_back({keep(name), keep(new_name)});
    items_.push_back({directory, nullptr, nullptr, data.data(), data.size()});
  }

  /// Good until the next clear() or add().
  [[nodiscard]] std::span<const MetadataItem> items() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      items_[i].name = text_.data() + names_[i].name;
      items_[i].new_name = text_.data() + names_[i].new_name;
    }
    return items_;
  }

 private:
  static constexpr std::size_t most_directories = 256;
  static constexpr std::size_t most_text_bytes = std::size_t{8} << 20;
  struct Names {
    std::uint32_t name = 0;  // where they begin in the text
    std::uint32_t new_name = 0;
  };

  [[nodiscard]] std::uint32_t keep(std::string_view name) {
    const auto begins = static_cast<std::uint32_t>(text_.size());
    text_.append(name);
    text_.push_back('\0');
    return begins;
  }

  void forget_directories() {
    for (const auto& [path, handle] : directories_) api_.leave(handle);
    directories_.clear();
  }

  MetadataApi& api_;
  std::string dataset_directory_;
  std::map<std::string, int> directories_;
  std::string text_;  // all names one after the other, since operations go through them in order
  std::vector<Names> names_;
  std::vector<MetadataItem> items_;
};

}  // namespace ullage
