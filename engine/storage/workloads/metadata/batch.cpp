// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/metadata/batch.hpp"

namespace ullage {

void MetadataBatch::clear() {
  if (directories_.size() >= most_directories) forget_directories();
  text_.clear();
  names_.clear();
  items_.clear();
}

Result<int> MetadataBatch::directory(const std::string& path) {
  if (const auto known = directories_.find(path); known != directories_.end()) return known->second;
  const auto handle = api_.enter(path.empty() ? dataset_directory_ : dataset_directory_ + "/" + path);
  if (handle) directories_.emplace(path, *handle);
  return handle;
}

void MetadataBatch::add(int directory, std::string_view name, std::string_view new_name, std::span<std::byte> data) {
  names_.push_back({keep(name), keep(new_name)});
  items_.push_back({directory, nullptr, nullptr, data.data(), data.size()});
}

std::span<const MetadataItem> MetadataBatch::items() {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    items_[i].name = text_.data() + names_[i].name;
    items_[i].new_name = text_.data() + names_[i].new_name;
  }
  return items_;
}

std::uint32_t MetadataBatch::keep(std::string_view name) {
  const auto begins = static_cast<std::uint32_t>(text_.size());
  text_.append(name);
  text_.push_back('\0');
  return begins;
}

void MetadataBatch::forget_directories() {
  for (const auto& [path, handle] : directories_) api_.leave(handle);
  directories_.clear();
}

}  // namespace ullage
