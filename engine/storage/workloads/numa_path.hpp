// SPDX-License-Identifier: Apache-2.0
// On which NUMA nodes ranks run, relative to the node of the device that holds their files, and where their memory is.
#pragma once

#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/affinity.hpp"
#include "base/pinned.hpp"
#include "base/procfs.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "memory/numa.hpp"

namespace ullage {

/// unsaid: nobody looks. as_is: ranks stay where they are, and it is recorded.
enum class NumaPath { unsaid, as_is, local, remote, interleave };

/// A whole number, which the kernel writes as -1 where it knows none.
inline std::optional<int> number_in(const std::string& path) {
  const auto text = read_word(path);
  int value = 0;
  if (!text) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return value;
}

/// NUMA node of the block device with this number (st_dev), as the kernel states it of the device or what it is part
/// of; nothing where it does not say, as of memory, of loop devices and of servers.
[[nodiscard]] inline std::optional<int> node_of_device(std::uint64_t device, const std::string& sysfs = "/sys") {
  std::error_code error;
  const std::string link = sysfs + "/dev/block/" + std::to_string(major(device)) + ":" + std::to_string(minor(device));
  std::filesystem::path folder = std::filesystem::canonical(link, error);
  if (error) return std::nullopt;
  const std::filesystem::path top = std::filesystem::canonical(sysfs + "/devices", error);
  for (; !error && folder != top && folder.has_relative_path(); folder = folder.parent_path())
    if (const auto node = number_in(folder / "numa_node"); node && *node >= 0) return node;
  return std::nullopt;
}

/// The CPUs that this process may use, by their node, each core once before any is taken twice; without empty nodes.
using CpusOfNodes = std::map<int, std::vector<int>>;

[[nodiscard]] inline CpusOfNodes usable_cpus_of_nodes() {
  const std::vector<int> allowed = allowed_cpus();
  CpusOfNodes found;
  for (const int node : cpu_nodes())
    if (auto cpus = cpus_of_node(node, allowed)) found[node] = std::move(*cpus);
  return found;
}

/// The CPUs among which the rank with this number on its node stays; all of them with as_is. `index`: of the one that
/// it takes where it needs only one.
struct PathChoice {
  std::vector<int> cpus;
  std::size_t index = 0;
};

/// Ranks go to the nodes in turn, and to the cores of each in turn.
inline PathChoice in_turn(const CpusOfNodes& nodes, const std::vector<int>& names, int rank_on_node) {
  const auto rank = static_cast<std::size_t>(rank_on_node);
  return {nodes.at(names[rank % names.size()]), rank / names.size()};
}

inline Error not_available(const std::string& why) { return environment_error("numa_path", "not available: " + why); }

[[nodiscard]] inline Result<PathChoice> choose_on_path(NumaPath path, const CpusOfNodes& nodes,
                                                       std::optional<int> device_node, int rank_on_node) {
  if (path == NumaPath::unsaid || path == NumaPath::as_is) {
    PathChoice all;
    for (const auto& [node, cpus] : nodes) all.cpus.insert(all.cpus.end(), cpus.begin(), cpus.end());
    return all;
  }
  if (path != NumaPath::local && nodes.size() < 2) return fail(not_available("one NUMA node"));
  if (path != NumaPath::interleave && !device_node)
    return fail(not_available("the kernel states no NUMA node of the target's device"));
  std::vector<int> names;
  for (const auto& [node, cpus] : nodes)
    if (path == NumaPath::interleave || (node == device_node) == (path == NumaPath::local)) names.push_back(node);
  if (names.empty())
    return fail(not_available("this rank may use no CPU of NUMA node " + std::to_string(*device_node) +
                              ", which has the target's device"));
  return in_turn(nodes, names, rank_on_node);
}

/// Says where this thread runs now.
struct RankSpot {
  int cpu = 0;
  int node = 0;
  int package = 0;
};

[[nodiscard]] inline RankSpot spot_now() {
  unsigned cpu = 0;
  unsigned node = 0;
  RankSpot spot;
  if (syscall(SYS_getcpu, &cpu, &node, nullptr) != 0) return spot;
  spot.cpu = static_cast<int>(cpu);
  spot.node = static_cast<int>(node);
  const std::string topology = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
  spot.package = number_in(topology + "physical_package_id").value_or(0);
  return spot;
}

/// Keeps this thread on `cpus` until its end; then it may run where it did before. Move-only.
class StayOnCpus final {
 public:
  [[nodiscard]] static Result<StayOnCpus> on(const std::vector<int>& cpus) {
    std::vector<int> before = own_cpus();
    if (keep_on(cpus)) return StayOnCpus(std::move(before));
    return fail(environment_error("numa_path", "the system does not let this rank be bound to its CPUs"));
  }

  StayOnCpus(StayOnCpus&& other) noexcept : before_(std::exchange(other.before_, {})) {}

  StayOnCpus& operator=(StayOnCpus&& other) noexcept {
    std::swap(before_, other.before_);
    return *this;
  }

  StayOnCpus(const StayOnCpus&) = delete;
  StayOnCpus& operator=(const StayOnCpus&) = delete;

  ~StayOnCpus() {
    if (!before_.empty()) (void)keep_on(before_);
  }

 private:
  explicit StayOnCpus(std::vector<int> before) : before_(std::move(before)) {}
  std::vector<int> before_;
};

inline constexpr int policy_of_one = 2;  // MPOL_BIND of linux/mempolicy.h
inline constexpr int bits_of_a_word = sizeof(unsigned long) * CHAR_BIT;

/// Memory that this thread touches first comes from `node` alone until this ends, and then from where it came before;
/// -1: it goes on doing so.
class MemoryFrom final : Pinned {
 public:
  explicit MemoryFrom(int node) {
    if (node < 0) return;
    const std::vector<int> nodes = memory_nodes();
    const std::string where = "buffer_node " + std::to_string(node);
    if (node >= most_memory_nodes || std::ranges::find(nodes, node) == nodes.end()) {
      status_ = fail(environment_error(where, "there is no such node with memory"));
      return;
    }
    if (nodes.size() == 1) return;  // all memory is there; the call may not even exist
    if (syscall(SYS_get_mempolicy, &policy_before_, nodes_before_.data(), most_memory_nodes + 1UL, nullptr, 0UL) != 0) {
      status_ = fail(environment_error(where, std::string("get_mempolicy: ") + std::strerror(errno)));
      return;
    }
    NodeMask mask{};
    mask.at(static_cast<std::size_t>(node / bits_of_a_word)) |= 1UL << (node % bits_of_a_word);
    is_set_ = syscall(SYS_set_mempolicy, policy_of_one, mask.data(), most_memory_nodes + 1UL) == 0;
    if (!is_set_) status_ = fail(environment_error(where, std::string("set_mempolicy: ") + std::strerror(errno)));
  }

  ~MemoryFrom() {
    if (is_set_) (void)syscall(SYS_set_mempolicy, policy_before_, nodes_before_.data(), most_memory_nodes + 1UL);
  }

  [[nodiscard]] const Status& status() const noexcept { return status_; }

 private:
  static constexpr int most_memory_nodes = 1024;
  using NodeMask = std::array<unsigned long, most_memory_nodes / (8 * sizeof(unsigned long))>;
  int policy_before_ = 0;
  NodeMask nodes_before_{};
  bool is_set_ = false;
  Status status_;
};

}  // namespace ullage
