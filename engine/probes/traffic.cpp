// SPDX-License-Identifier: Apache-2.0
#include "probes/traffic.hpp"

#include "probes/text.hpp"

namespace ullage {

std::optional<Traffic> parse_block_stat(std::string_view stat) {
  constexpr std::uint64_t sector_bytes = 512;
  const auto words = words_of(stat);
  const auto read = number_at(words, 2);
  const auto written = number_at(words, 6);
  if (!read || !written) return std::nullopt;
  return Traffic{*read * sector_bytes, *written * sector_bytes};
}

std::optional<Traffic> parse_nfs_traffic(std::string_view mountstats, std::string_view mount_point) {
  bool ours = false;
  for (const std::string_view line : lines_of(mountstats)) {
    const auto words = words_of(line);
    if (words.empty()) continue;
    // device SERVER:/PATH mounted on MOUNT with fstype nfs4 statvers=1.1
    if (words[0] == "device")
      ours = words.size() > 7 && unescaped(words[4]) == mount_point && words[7].starts_with("nfs");
    if (!ours || words[0] != "bytes:") continue;
    const auto read = number_at(words, 5);
    const auto written = number_at(words, 6);
    if (!read || !written) return std::nullopt;
    return Traffic{*read, *written};
  }
  return std::nullopt;
}

std::optional<Traffic> parse_lustre_traffic(std::string_view stats) {
  if (!stats.starts_with("snapshot_time")) return std::nullopt;
  Traffic traffic;
  for (const std::string_view line : lines_of(stats)) {
    const auto words = words_of(line);
    if (words.empty() || (words[0] != "read_bytes" && words[0] != "write_bytes")) continue;
    const auto sum = number_at(words, 6);  // NAME count "samples" [bytes] least most sum ...
    if (!sum) return std::nullopt;
    (words[0] == "read_bytes" ? traffic.read_bytes : traffic.written_bytes) = *sum;
  }
  return traffic;
}

}  // namespace ullage
