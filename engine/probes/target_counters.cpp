// SPDX-License-Identifier: Apache-2.0
#include "probes/target_counters.hpp"

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/cgroup.hpp"
#include "base/procfs.hpp"

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

namespace {

constexpr std::array<const char*, 2> lustre_roots{"/proc/fs/lustre/osc", "/sys/kernel/debug/lustre/osc"};

/// All of them, or nothing: half a sum is no measurement.
template <class Parse>
std::optional<Traffic> sum_of(const std::vector<std::string>& files, Parse parse) {
  if (files.empty()) return std::nullopt;
  Traffic sum;
  for (const std::string& file : files) {
    const auto text = read_text(file);
    const std::optional<Traffic> traffic = text ? parse(*text) : std::nullopt;
    if (!traffic) return std::nullopt;
    sum += *traffic;
  }
  return sum;
}

std::vector<std::string> lustre_stat_files(const std::string& name) {
  std::vector<std::string> files;
  for (const char* root : lustre_roots) {
    std::error_code error;
    for (const auto& client : std::filesystem::directory_iterator(root, error))
      if (client.path().filename().string().starts_with(name + "-OST")) files.push_back(client.path() / "stats");
    if (!files.empty()) break;
  }
  return files;
}

}  // namespace

std::string lustre_name(const std::string& source) {
  const std::size_t begin = source.find(":/");
  if (begin == std::string::npos) return {};
  const std::string name = source.substr(begin + 2);
  return name.substr(0, name.find('/'));
}

TargetCounters TargetCounters::of_folder(const std::string& folder) {
  std::error_code error;
  const auto path = std::filesystem::canonical(folder, error);
  const auto text = read_text("/proc/self/mountinfo");
  if (error || !text) return TargetCounters("the mount under " + folder + " cannot be found");
  const auto mounts = parse_mounts(*text);
  const auto mount = mount_of(mounts, path.native());
  if (!mount) return TargetCounters("the mount under " + folder + " is not listed");
  BlockCounters block = block_counters(*mount);
  TargetCounters counters(std::move(block.reason));
  counters.block_files_ = std::move(block.stat_files);
  counters.find_client(mount->file_system, mount->source, mount->mount_point);
  return counters;
}

void TargetCounters::find_client(const std::string& file_system, const std::string& source,
                                 const std::string& mount_point) {
  if (file_system.starts_with("nfs")) nfs_mount_ = mount_point;
  if (file_system != "lustre") return;
  const std::string name = lustre_name(source);
  if (!name.empty()) lustre_files_ = lustre_stat_files(name);
  if (lustre_files_.empty()) client_reason_ = "the client counters of Lustre " + name + " cannot be read by this user";
}

std::optional<Traffic> TargetCounters::device() const { return sum_of(block_files_, parse_block_stat); }

std::optional<Traffic> TargetCounters::client() const {
  if (!lustre_files_.empty()) return sum_of(lustre_files_, parse_lustre_traffic);
  if (nfs_mount_.empty()) return std::nullopt;
  const auto stats = read_text("/proc/self/mountstats");
  return stats ? parse_nfs_traffic(*stats, nfs_mount_) : std::nullopt;
}

}  // namespace ullage
