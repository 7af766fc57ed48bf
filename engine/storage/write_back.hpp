// SPDX-License-Identifier: Apache-2.0
// Whether this node's kernel moves written data towards a target. A sync is one call, which says nothing until it ends.
#pragma once

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <charconv>

#include "base/descriptor.hpp"
#include "base/pinned.hpp"
#include "base/std.hpp"
#include "storage/target_space.hpp"

namespace ullage {

/// Read by the watchdog's thread. Both are counters of the kernel's memory: no file system is asked.
class WriteBack : public Interface {
 public:
  /// Changes when 2 MiB or 256 writes more were written back, so that what a node writes into its logs is no sign.
  [[nodiscard]] virtual std::uint64_t steps() const noexcept = 0;
  /// Returns what a server may be busy with although nothing is written back here: it has the data, but not on its
  /// disks. 0 where the target is a device of this node.
  [[nodiscard]] virtual std::uint64_t pending_bytes() const noexcept = 0;
};

/// On these, written data is in pages that the kernel counts, and then in the memory of a server. fuse stands for all
/// of its kind.
inline constexpr std::array<std::string_view, 11> of_servers{"nfs",  "nfs4", "lustre",   "ceph",   "cifs",    "smb2",
                                                             "smb3", "9p",   "virtiofs", "beegfs", "orangefs"};

/// The kernel counts its pages, and hides its devices behind one of its own.
inline constexpr std::array<std::string_view, 2> of_hidden_devices{"btrfs", "bcachefs"};

inline bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// Reads from the beginning, whatever was read before; empty when it cannot be read.
inline std::string_view read_again(const Descriptor& file, std::span<char> buffer) noexcept {
  const ssize_t length = ::pread(file.get(), buffer.data(), buffer.size(), 0);
  return {buffer.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

inline constexpr std::uint64_t bytes_a_step = 2U << 20U;
inline constexpr std::uint64_t sectors_a_step = bytes_a_step / 512;
inline constexpr std::uint64_t writes_a_step = 256;

/// Reads a device's `stat`; none when the text is no such thing.
[[nodiscard]] inline std::optional<std::uint64_t> steps_of_device(std::string_view stat) {
  constexpr std::size_t writes = 4;   // from 0: writes completed
  constexpr std::size_t sectors = 6;  // of 512 bytes, written
  std::array<std::uint64_t, sectors + 1> fields{};
  for (std::uint64_t& field : fields) {
    const std::size_t from = stat.find_first_not_of(" \t");
    if (from == std::string_view::npos) return std::nullopt;
    stat.remove_prefix(from);
    const auto [end, error] = std::from_chars(stat.data(), stat.data() + stat.size(), field);
    if (error != std::errc()) return std::nullopt;
    stat.remove_prefix(static_cast<std::size_t>(end - stat.data()));
  }
  return fields[sectors] / sectors_a_step + fields[writes] / writes_a_step;
}

class OfDevice final : public WriteBack {
 public:
  explicit OfDevice(Descriptor stat) : stat_(std::move(stat)) {}
  [[nodiscard]] std::uint64_t steps() const noexcept override {
    std::array<char, 512> buffer;
    return steps_of_device(read_again(stat_, buffer)).value_or(0);
  }
  [[nodiscard]] std::uint64_t pending_bytes() const noexcept override { return 0; }

 private:
  Descriptor stat_;
};

/// The counts of /proc/vmstat.
struct NodePages {
  std::uint64_t written = 0;
  std::uint64_t pending = 0;  // dirty, or handed over and not confirmed
};

inline std::uint64_t number(std::string_view text) noexcept {
  std::uint64_t value = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

[[nodiscard]] inline std::optional<NodePages> parse_node_pages(std::string_view vmstat) {
  NodePages pages;
  bool counts = false;
  while (!vmstat.empty()) {
    const std::string_view line = vmstat.substr(0, vmstat.find('\n'));
    vmstat.remove_prefix(std::min(line.size() + 1, vmstat.size()));
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, space);
    if (name == "nr_dirty" || name == "nr_writeback" || name == "nr_unstable")
      pages.pending += number(line.substr(space + 1));
    if (name != "nr_written") continue;
    pages.written = number(line.substr(space + 1));
    counts = true;
  }
  return counts ? std::optional(pages) : std::nullopt;
}

class OfNode final : public WriteBack {
 public:
  OfNode(Descriptor vmstat, bool has_server) : vmstat_(std::move(vmstat)), has_server_(has_server) {}
  [[nodiscard]] std::uint64_t steps() const noexcept override { return pages().written * page_bytes_ / bytes_a_step; }
  [[nodiscard]] std::uint64_t pending_bytes() const noexcept override {
    return has_server_ ? pages().pending * page_bytes_ : 0;
  }

 private:
  [[nodiscard]] NodePages pages() const noexcept {
    std::array<char, 16384> buffer;
    return parse_node_pages(read_again(vmstat_, buffer)).value_or(NodePages{});
  }
  Descriptor vmstat_;
  bool has_server_;
  std::uint64_t page_bytes_ = static_cast<std::uint64_t>(std::max(sysconf(_SC_PAGESIZE), 1L));
};

/// Measures by the counters of the target's device where it is one of this node, else by those of the node's memory.
/// Null where the kernel counts nothing: its file system keeps written data in memory of its own, or in no file at all.
[[nodiscard]] inline std::unique_ptr<WriteBack> make_write_back(const TargetSpace& space) {
  const std::string device =
      "/sys/dev/block/" + std::to_string(major(space.device)) + ":" + std::to_string(minor(space.device)) + "/stat";
  if (Descriptor stat(::open(device.c_str(), O_RDONLY | O_CLOEXEC)); stat)
    return std::make_unique<OfDevice>(std::move(stat));
  const bool has_server = space.file_system.starts_with("fuse") || is_one_of(space.file_system, of_servers);
  if (!has_server && !is_one_of(space.file_system, of_hidden_devices)) return nullptr;
  Descriptor vmstat(::open("/proc/vmstat", O_RDONLY | O_CLOEXEC));
  if (!vmstat) return nullptr;
  return std::make_unique<OfNode>(std::move(vmstat), has_server);
}

}  // namespace ullage
