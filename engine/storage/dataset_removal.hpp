// SPDX-License-Identifier: Apache-2.0
// Removes what a manifest's entry lists, and nothing else.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "storage/manifest.hpp"

namespace ullage {

/// Says what a removal did and could not do.
struct Leftovers {
  std::uint64_t removed_files = 0;
  std::vector<std::string> left;  // "name: reason", at most 32

  std::atomic<std::uint64_t>* steps = nullptr;  // counted up with every name that is looked at; may be null

  static constexpr std::size_t most_left = 32;
  void step() const noexcept {
    if (steps != nullptr) steps->fetch_add(1, std::memory_order_relaxed);
  }
  void note(const std::string& name, const std::string& reason);
  void note(const std::string& name, int errno_value);  // what is not there is no leftover
};

/// `part` of `parts`: of the dataset's items those that are this part's, so that several ranks can remove at once; the
/// directories around them go with everything else, not with `items_only`.
struct Part {
  int part = 0;
  int parts = 1;
  bool items_only = false;
  [[nodiscard]] bool has(std::uint64_t index) const noexcept {
    return index % static_cast<std::uint64_t>(parts) == static_cast<std::uint64_t>(part);
  }
};

/// `folder` is the run folder's descriptor, `path` what to call it.
void remove_dataset(int folder, const std::string& path, const DatasetEntry& entry, Part part, Leftovers& leftovers);

/// unlinkat(2) of a safe name, however deep, no symbolic link followed; a directory as remove_empty_directory does it.
[[nodiscard]] OrErrno<void> remove_name(int folder, const std::string& name, int flags);

/// Calls `visit` with every name in a directory, in the order of the file system, until it says false. Names may be
/// removed meanwhile.
[[nodiscard]] OrErrno<void> for_each_name(int directory, const std::function<bool(const std::string&)>& visit);

}  // namespace ullage
