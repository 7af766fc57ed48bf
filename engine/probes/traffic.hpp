// SPDX-License-Identifier: Apache-2.0
// Counters of bytes that crossed to a device or a server. Pure functions over the kernel's texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ullage {

struct Traffic {
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  Traffic& operator+=(const Traffic& other) {
    read_bytes += other.read_bytes;
    written_bytes += other.written_bytes;
    return *this;
  }
};

/// /sys/dev/block/M:N/stat (Documentation/block/stat.rst); its sectors are 512 bytes whatever the device's are.
[[nodiscard]] std::optional<Traffic> parse_block_stat(std::string_view stat);

/// Bytes an NFS client got from and sent to its server for one mount, from /proc/self/mountstats (its "bytes:" line).
[[nodiscard]] std::optional<Traffic> parse_nfs_traffic(std::string_view mountstats, std::string_view mount_point);

/// Bytes moved by bulk requests of one Lustre OSC, from its `stats`; no traffic yet: zeros.
[[nodiscard]] std::optional<Traffic> parse_lustre_traffic(std::string_view stats);

}  // namespace ullage
