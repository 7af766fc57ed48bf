// SPDX-License-Identifier: Apache-2.0
// On which NUMA nodes ranks run, relative to the node of the device that holds their files, and where their memory is.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace ullage {

/// unsaid: nobody looks. as_is: ranks stay where they are, and it is recorded.
enum class NumaPath { unsaid, as_is, local, remote, interleave };

/// NUMA node of the block device with this number (st_dev), as the kernel states it of the device or what it is part
/// of; nothing where it does not say, as of memory, of loop devices and of servers.
[[nodiscard]] std::optional<int> node_of_device(std::uint64_t device, const std::string& sysfs = "/sys");

/// The CPUs that this process may use, by their node, each core once before any is taken twice; without empty nodes.
using CpusOfNodes = std::map<int, std::vector<int>>;
[[nodiscard]] CpusOfNodes usable_cpus_of_nodes();

/// The CPUs among which the rank with this number on its node stays; all of them with as_is. `index`: of the one that
/// it takes where it needs only one.
struct PathChoice {
  std::vector<int> cpus;
  std::size_t index = 0;
};
[[nodiscard]] Result<PathChoice> choose_on_path(NumaPath path, const CpusOfNodes& nodes, std::optional<int> device_node,
                                                int rank_on_node);

/// Says where this thread runs now.
struct RankSpot {
  int cpu = 0;
  int node = 0;
  int package = 0;
};
[[nodiscard]] RankSpot spot_now();

/// Keeps this thread on `cpus` until its end; then it may run where it did before. Move-only.
class StayOnCpus final {
 public:
  [[nodiscard]] static Result<StayOnCpus> on(const std::vector<int>& cpus);
  StayOnCpus(StayOnCpus&& other) noexcept;
  StayOnCpus& operator=(StayOnCpus&& other) noexcept;
  StayOnCpus(const StayOnCpus&) = delete;
  StayOnCpus& operator=(const StayOnCpus&) = delete;
  ~StayOnCpus();

 private:
  explicit StayOnCpus(std::vector<int> before) : before_(std::move(before)) {}
  std::vector<int> before_;
};

/// Memory that this thread touches first comes from `node` alone until this ends, and then from where it came before;
/// -1: it goes on doing so.
class MemoryFrom final {
 public:
  explicit MemoryFrom(int node);
  MemoryFrom(const MemoryFrom&) = delete;
  MemoryFrom& operator=(const MemoryFrom&) = delete;
  ~MemoryFrom();
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
