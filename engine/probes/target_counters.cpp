// SPDX-License-Identifier: Apache-2.0
#include "probes/target_counters.hpp"

#include <map>

#include "base/json.hpp"
#include "probes/probe.hpp"

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

std::string lustre_name(const std::string& source) {
  const std::size_t begin = source.find(":/");
  if (begin == std::string::npos) return {};
  const std::string name = source.substr(begin + 2);
  return name.substr(0, name.find('/'));
}

namespace {

/// Returns what a counter says of one direction.
std::optional<std::uint64_t> grown(const std::optional<Traffic>& before, const std::optional<Traffic>& after,
                                   bool reads) {
  if (!before || !after) return std::nullopt;
  const std::uint64_t from = reads ? before->read_bytes : before->written_bytes;
  const std::uint64_t to = reads ? after->read_bytes : after->written_bytes;
  return to >= from ? std::optional(to - from) : std::nullopt;
}

std::optional<Traffic> process_traffic() {
  const auto text = read_text("/proc/self/io");
  const auto io = text ? parse_process_io(*text) : std::nullopt;
  if (!io) return std::nullopt;
  return Traffic{io->read_bytes, io->write_bytes};
}

/// A sum over ranks that is known only if each of those that count could say.
struct MovedSum {
  std::uint64_t bytes = 0;
  std::uint64_t silent = 0;
  void take(const std::optional<std::uint64_t>& value) {
    bytes = value.value_or(0);
    silent = value ? 0 : 1;
  }
};

class MovedProbe final : public Probe {
 public:
  void begin(const PhaseScope& scope) override {
    counters_ = counters_of(scope);
    settled_ = false;
    before_.process = process_traffic();
    read_shared(before_);
  }

  void end(const PhaseScope&) override { after_.process = process_traffic(); }

  /// Not at end(): the leader's own part may be over long before the others have written theirs.
  void settle(const PhaseScope&) override {
    settled_ = true;
    read_shared(after_);
  }

  void report(const PhaseScope& scope, Json& record) override {
    if (!settled_) settle(scope);
    if (scope.reads == scope.writes) {
      record["moved"] = nullptr;
      return;
    }
    std::array<MovedSum, 3> sums;
    sums[0].take(grown(before_.process, after_.process, scope.reads));
    if (counters_ != nullptr) {  // one rank of each kernel
      sums[1].take(grown(before_.device, after_.device, scope.reads));
      sums[2].take(grown(before_.client, after_.client, scope.reads));
    }
    std::array<std::uint64_t, 6> values{sums[0].bytes,  sums[0].silent, sums[1].bytes,
                                        sums[1].silent, sums[2].bytes,  sums[2].silent};
    scope.world->all().sum_all(values);
    if (!scope.world->root()) return;
    const auto known = [&values](std::size_t index) {
      return values[index + 1] == 0 ? Json(values[index]) : Json(nullptr);
    };
    record["moved"] = {{"requested_bytes", scope.requested_bytes},
                       {"process_bytes", known(0)},
                       {"device_bytes", known(2)},
                       {"client_bytes", known(4)},
                       {"reasons", reasons(values)}};
  }

 private:
  struct Reading {
    std::optional<Traffic> process;
    std::optional<Traffic> device;
    std::optional<Traffic> client;
  };

  void read_shared(Reading& reading) const {
    if (counters_ == nullptr) return;
    reading.device = counters_->device();
    reading.client = counters_->client();
  }

  /// Returns what a kernel's leading rank reads for all ranks on it; null for the others, which would count the same
  /// again.
  const TargetCounters* counters_of(const PhaseScope& scope) {
    if (scope.world->kernel().rank() != 0) return nullptr;
    const std::string path = scope.folder == nullptr ? "" : scope.folder->path();
    auto found = by_folder_.find(path);
    if (found == by_folder_.end())
      found =
          by_folder_
              .emplace(path, path.empty() ? TargetCounters("no storage behind it") : TargetCounters::of_folder(path))
              .first;
    return &found->second;
  }

  /// Returns them as rank 0 knows them.
  [[nodiscard]] Json reasons(const std::array<std::uint64_t, 6>& values) const {
    Json reasons = Json::array();
    if (values[1] != 0) reasons.push_back("process_bytes: /proc/self/io cannot be read");
    if (values[3] != 0 && !counters_->device_reason().empty())
      reasons.push_back("device_bytes: " + counters_->device_reason());
    if (values[5] != 0 && !counters_->client_reason().empty())
      reasons.push_back("client_bytes: " + counters_->client_reason());
    return reasons;
  }

  std::map<std::string, TargetCounters> by_folder_;
  const TargetCounters* counters_ = nullptr;
  bool settled_ = false;
  Reading before_;
  Reading after_;
};

const Registered<ProbeEntry> registered_moved{{
    .description = {.name = "moved",
                    .doc = "Counts the bytes that processes, block devices and NFS or Lustre clients moved during each "
                           "phase."},
    .make = [] { return std::make_unique<MovedProbe>(); },
}};

}  // namespace
}  // namespace ullage
