// SPDX-License-Identifier: Apache-2.0
#include "storage/silly_rename.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/hex.hpp"
#include "storage/dataset_removal.hpp"

namespace ullage {
namespace {

constexpr int most_looks = 250;
constexpr std::chrono::milliseconds between_looks{20};

bool is_prefix_and_digits(std::string_view name, std::string_view prefix, std::size_t digits) noexcept {
  return name.size() == prefix.size() + digits && name.starts_with(prefix) && is_hex(name.substr(prefix.size()));
}

bool waits_for_client(int parent, const std::string& base) {
  const auto directory = open_beneath(parent, base, O_RDONLY | O_DIRECTORY);
  return directory && holds_silly_names_only(directory->get());
}

}  // namespace

bool is_silly_name(std::string_view name) noexcept {
  return is_prefix_and_digits(name, ".nfs", 24) || is_prefix_and_digits(name, ".fuse_hidden", 16);
}

bool holds_silly_names_only(int directory) {
  bool others = false;
  const auto visited = for_each_name(directory, [&](const std::string& name) {
    others = !is_silly_name(name);
    return !others;
  });
  return visited && !others;
}

OrErrno<void> remove_empty_directory(int parent, const std::string& base) {
  for (int look = 0;; ++look) {
    if (unlinkat(parent, base.c_str(), AT_REMOVEDIR) == 0) return {};
    const int why = errno;
    const bool is_full = why == ENOTEMPTY || why == EEXIST;
    if (!is_full || look == most_looks || !waits_for_client(parent, base)) return std::unexpected(why);
    std::this_thread::sleep_for(between_looks);
  }
}

}  // namespace ullage
