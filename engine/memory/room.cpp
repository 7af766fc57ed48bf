// SPDX-License-Identifier: Apache-2.0
#include "memory/room.hpp"

#include <algorithm>

#include "probes/cgroup.hpp"
#include "probes/mounts.hpp"
#include "probes/text.hpp"

namespace ullage {
namespace {

struct GroupFiles {
  const char* limit;
  const char* used;
};
constexpr GroupFiles version_2{"/memory.max", "/memory.current"};
constexpr GroupFiles version_1{"/memory.limit_in_bytes", "/memory.usage_in_bytes"};

std::optional<std::uint64_t> room_of_group(const std::string& directory, const GroupFiles& files) {
  const auto limit = read_word(directory + files.limit);
  const auto used = read_word(directory + files.used);
  if (!limit || !used) return std::nullopt;
  return parse_cgroup_room(*limit, *used, read_text(directory + "/memory.stat").value_or(""));
}

void tighten(std::optional<std::uint64_t>& room, std::optional<std::uint64_t> other) {
  if (other) room = std::min(room.value_or(*other), *other);
}

}  // namespace

std::optional<std::uint64_t> parse_cgroup_room(std::string_view limit, std::string_view used, std::string_view stat) {
  const auto most = number_of(limit);
  const auto now = number_of(used);
  if (!most || !now) return std::nullopt;
  const std::uint64_t reclaimable = number_of_key(stat, "inactive_file").value_or(0);
  const std::uint64_t held = *now - std::min(*now, reclaimable);
  return *most - std::min(*most, held);
}

std::optional<std::uint64_t> memory_room() {
  std::optional<std::uint64_t> room;
  if (const auto kib = number_of_key(read_text("/proc/meminfo").value_or(""), "MemAvailable")) room = *kib * 1024;
  const std::string membership = read_text("/proc/self/cgroup").value_or("");
  const auto mounts = parse_mounts(read_text("/proc/self/mountinfo").value_or(""));
  for (const std::string& directory : cgroup_directories(membership, mounts, "memory"))
    for (const GroupFiles& files : {version_2, version_1}) tighten(room, room_of_group(directory, files));
  return room;
}

Status check_room(const std::string& where, Count needed_bytes, std::optional<std::uint64_t> room) {
  if (!room || needed_bytes <= *room - *room / 100) return {};
  return fail(environment_error(where, "needs " + std::to_string(needed_bytes.value() >> 20U) +
                                           " MiB on this node, which has " + std::to_string(*room >> 20U) +
                                           " MiB left; use a smaller size"));
}

}  // namespace ullage
