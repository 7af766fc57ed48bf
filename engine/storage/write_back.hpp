// SPDX-License-Identifier: Apache-2.0
// Whether this node's kernel moves written data towards a target. A sync is one call, which says nothing until it ends.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "storage/target_space.hpp"

namespace ullage {

/// Read by the watchdog's thread. Both are counters of the kernel's memory: no file system is asked.
class WriteBack {
 public:
  WriteBack() = default;
  WriteBack(const WriteBack&) = delete;
  WriteBack& operator=(const WriteBack&) = delete;
  virtual ~WriteBack() = default;
  /// Changes when 2 MiB or 256 writes more were written back, so that what a node writes into its logs is no sign.
  [[nodiscard]] virtual std::uint64_t steps() const noexcept = 0;
  /// Returns what a server may be busy with although nothing is written back here: it has the data, but not on its
  /// disks. 0 where the target is a device of this node.
  [[nodiscard]] virtual std::uint64_t pending_bytes() const noexcept = 0;
};

/// Measures by the counters of the target's device where it is one of this node, else by those of the node's memory.
/// Null where the kernel counts nothing: its file system keeps written data in memory of its own, or in no file at all.
[[nodiscard]] std::unique_ptr<WriteBack> make_write_back(const TargetSpace& space);

/// Reads a device's `stat`; none when the text is no such thing.
[[nodiscard]] std::optional<std::uint64_t> steps_of_device(std::string_view stat);
/// The counts of /proc/vmstat.
struct NodePages {
  std::uint64_t written = 0;
  std::uint64_t pending = 0;  // dirty, or handed over and not confirmed
};
[[nodiscard]] std::optional<NodePages> parse_node_pages(std::string_view vmstat);

}  // namespace ullage
