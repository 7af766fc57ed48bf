// SPDX-License-Identifier: Apache-2.0
#include "base/resources.hpp"

#include <algorithm>

#include "base/cgroup.hpp"
#include "base/procfs.hpp"

namespace ullage {
namespace {

/// A limit of 2^62 or more is none: version 1 writes the largest multiple of a page below 2^63.
constexpr std::uint64_t no_limit = std::uint64_t{1} << 62;

/// Says where a version of control groups keeps what a group may take, what it has taken, and what of that could be
/// dropped.
struct MemoryFiles {
  const char* limit;
  const char* taken;
  const char* droppable;
};
constexpr MemoryFiles version_2{"/memory.max", "/memory.current", "inactive_file"};
constexpr MemoryFiles version_1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"};

/// Clean file pages are given up before anything is refused.
std::optional<std::uint64_t> left_in(const std::string& group, const MemoryFiles& files) {
  const auto limit = number_of(read_word(group + files.limit).value_or(""));
  const auto taken = number_of(read_word(group + files.taken).value_or(""));
  if (!limit || !taken || *limit >= no_limit) return std::nullopt;
  const auto droppable = number_of_key(read_text(group + "/memory.stat").value_or(""), files.droppable).value_or(0);
  const std::uint64_t kept = *taken - std::min(*taken, droppable);
  return *limit - std::min(*limit, kept);
}

}  // namespace

std::optional<std::uint64_t> memory_left_bytes(const std::string& root) {
  const auto text = [&root](const char* name) { return read_text(root + name).value_or(""); };
  std::optional<std::uint64_t> least;
  if (const auto kib = number_of_key(text("/proc/meminfo"), "MemAvailable")) least = *kib * 1024;
  const auto mounts = parse_mounts(text("/proc/self/mountinfo"));
  for (const std::string& group : cgroup_directories(text("/proc/self/cgroup"), mounts, "memory"))
    for (const MemoryFiles& files : {version_2, version_1})
      if (const auto left = left_in(root + group, files)) least = std::min(least.value_or(*left), *left);
  return least;
}

bool is_memory_available(std::uint64_t bytes) {
  constexpr std::uint64_t least_watched_bytes = std::uint64_t{64} << 20;
  return bytes < least_watched_bytes || bytes <= memory_left_bytes().value_or(bytes);
}

Status check_room(const std::string& where, Count needed_bytes, std::optional<std::uint64_t> room) {
  if (!room || needed_bytes <= *room - *room / 100) return {};
  return fail(environment_error(where, "needs " + std::to_string(needed_bytes.value() >> 20U) +
                                           " MiB on this node, which has " + std::to_string(*room >> 20U) +
                                           " MiB left; use a smaller size"));
}

}  // namespace ullage
