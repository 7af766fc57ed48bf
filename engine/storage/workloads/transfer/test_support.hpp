// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/backend.hpp"

/// A backend that lives in this process's memory and counts what it is asked to do.
namespace ullage::transfer_phase_test {

struct Store {
  std::map<std::string, std::vector<std::byte>> files;
  int syncs = 0;
  int drops = 0;
  bool fully_written = true;
  std::function<void(std::vector<std::byte>&)> damage;  // done to each file when it is closed after writing
  std::set<const std::byte*> written_from;
  std::set<const std::byte*> read_into;
};

class MemoryFile final : public File {
 public:
  MemoryFile(Store& store, std::string name, bool writes) : store_(store), name_(std::move(name)), writes_(writes) {}
  [[nodiscard]] Status transfer(Direction direction, std::span<const Extent> extents, Meter& meter) override {
    auto& data = store_.files[name_];
    for (const Extent& extent : extents) {
      const std::size_t end = extent.offset_bytes + extent.length_bytes;
      if (direction == Direction::write && data.size() < end) data.resize(end);
      if (end > data.size()) return fail(errno_error(EIO, "read", name_, extent.offset_bytes));
      std::byte* place = data.data() + extent.offset_bytes;
      (direction == Direction::write ? store_.written_from : store_.read_into).insert(extent.data);
      if (direction == Direction::write)
        std::memcpy(place, extent.data, extent.length_bytes);
      else
        std::memcpy(extent.data, place, extent.length_bytes);
      if (!meter.completed(extent.length_bytes)) break;
    }
    return {};
  }
  [[nodiscard]] Status sync() override {
    ++store_.syncs;
    return {};
  }
  [[nodiscard]] Status close() override {
    if (writes_ && store_.damage) store_.damage(store_.files[name_]);
    return {};
  }

 private:
  Store& store_;
  std::string name_;
  bool writes_;
};

class MemoryBackend final : public Backend {
 public:
  explicit MemoryBackend(Store& store) : store_(store) {}
  [[nodiscard]] Capabilities capabilities() const override { return {.path = false}; }
  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) override {
    if (request.mode == OpenMode::create && store_.files.contains(request.name))
      return fail(errno_error(EEXIST, "open", request.name));
    return std::make_unique<MemoryFile>(store_, request.name, request.mode != OpenMode::read);
  }
  [[nodiscard]] Status make_directory(const std::string&) override { return {}; }
  [[nodiscard]] Status remove_file(const std::string& name) override {
    store_.files.erase(name);
    return {};
  }
  [[nodiscard]] Status remove_directory(const std::string&) override { return {}; }
  [[nodiscard]] Result<FileExtents> inspect(const std::string& name) override {
    return FileExtents{store_.files[name].size(), store_.fully_written};
  }
  [[nodiscard]] Status drop_cached(const std::string&) override {
    ++store_.drops;
    return {};
  }

 private:
  Store& store_;
};

}  // namespace ullage::transfer_phase_test
