// SPDX-License-Identifier: Apache-2.0
#include "base/resources.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace ullage {
namespace {

using std::filesystem::path;

/// A limit of 2^62 or more is none: version 1 writes the largest multiple of a page below 2^63.
constexpr std::uint64_t no_limit = std::uint64_t{1} << 62;

/// Says where a version of control groups keeps what a group may take, what it has taken, and what of that could be
/// dropped.
struct Names {
  const char* limit;
  const char* taken;
  const char* droppable;
};
constexpr Names version_2{"memory.max", "memory.current", "inactive_file"};
constexpr Names version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};

std::optional<std::uint64_t> read_number(const path& file) {
  std::ifstream stream(file);
  std::uint64_t value = 0;
  return stream >> value ? std::optional(value) : std::nullopt;
}

/// The number behind `key` in lines of `key number`.
std::optional<std::uint64_t> read_field(const path& file, std::string_view key) {
  std::ifstream stream(file);
  std::string name;
  std::uint64_t value = 0;
  for (std::string rest; stream >> name >> value; std::getline(stream, rest))
    if (name == key) return value;
  return std::nullopt;
}

/// Clean file pages are given up before anything is refused.
std::optional<std::uint64_t> left_in(const path& group, const Names& names) {
  const auto limit = read_number(group / names.limit);
  const auto taken = read_number(group / names.taken);
  if (!limit || !taken || *limit >= no_limit) return std::nullopt;
  const std::uint64_t droppable = read_field(group / "memory.stat", names.droppable).value_or(0);
  const std::uint64_t kept = *taken - std::min(*taken, droppable);
  return *limit - std::min(*limit, kept);
}

void take_least(std::optional<std::uint64_t>& least, std::optional<std::uint64_t> other) {
  if (other) least = least ? std::min(*least, *other) : *other;
}

/// A group and all above it limit; a container may see its own mounted at the top.
std::optional<std::uint64_t> left_in_chain(const path& top, const std::string& group, const Names& names) {
  std::optional<std::uint64_t> least;
  path below = path(group).relative_path();
  while (!below.empty()) {
    take_least(least, left_in(top / below, names));
    below = below.parent_path();
  }
  take_least(least, left_in(top, names));
  return least;
}

}  // namespace

std::optional<std::uint64_t> memory_left_bytes(const std::string& root) {
  std::optional<std::uint64_t> least;
  if (const auto kib = read_field(path(root) / "proc/meminfo", "MemAvailable:")) least = *kib * 1024;
  std::ifstream groups(path(root) / "proc/self/cgroup");
  const path mounted = path(root) / "sys/fs/cgroup";
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") take_least(least, left_in_chain(mounted, group, version_2));
    if (controllers.contains(",memory,")) take_least(least, left_in_chain(mounted / "memory", group, version_1));
  }
  return least;
}

bool is_memory_available(std::uint64_t bytes) {
  constexpr std::uint64_t least_watched_bytes = std::uint64_t{64} << 20;
  return bytes < least_watched_bytes || bytes <= memory_left_bytes().value_or(bytes);
}

}  // namespace ullage
