// SPDX-License-Identifier: Apache-2.0
#include "probes/procfs.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <climits>

#include "probes/text.hpp"

namespace ullage {

std::optional<CpuTicks> parse_cpu_ticks(std::string_view proc_stat) {
  std::optional<CpuTicks> ticks;
  int cpus = 0;
  for (const std::string_view line : lines_of(proc_stat)) {
    if (!line.starts_with("cpu")) break;  // the lines of CPUs come first
    const auto words = words_of(line);
    if (words[0] != "cpu") {
      ++cpus;
      continue;
    }
    CpuTicks read;
    const std::array<std::uint64_t*, 8> fields{&read.user,   &read.nice, &read.system,  &read.idle,
                                               &read.iowait, &read.irq,  &read.softirq, &read.steal};
    std::size_t index = 1;
    for (std::uint64_t* field : fields) {
      const auto value = number_at(words, index++);
      if (!value) return std::nullopt;
      *field = *value;
    }
    ticks = read;
  }
  if (!ticks || cpus == 0) return std::nullopt;
  ticks->cpus = cpus;
  return ticks;
}

std::optional<ProcessIo> parse_process_io(std::string_view proc_io) {
  const auto read = number_of_key(proc_io, "read_bytes");
  const auto written = number_of_key(proc_io, "write_bytes");
  if (!read || !written) return std::nullopt;
  return ProcessIo{*read, *written};
}

std::optional<std::uint64_t> parse_pressure_us(std::string_view pressure) {
  constexpr std::string_view total = "total=";
  for (const std::string_view line : lines_of(pressure)) {
    const auto words = words_of(line);
    if (words.empty() || words[0] != "some") continue;
    for (const std::string_view word : words)
      if (word.starts_with(total)) return number_of(word.substr(total.size()));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_run_delay_ns(std::string_view schedstat) {
  const auto words = words_of(schedstat);
  const auto slices = number_at(words, 2);
  if (!slices || *slices == 0) return std::nullopt;  // a running task has had a slice: the kernel does not count
  return number_at(words, 1);
}

std::vector<int> parse_cpu_list(std::string_view list) {
  constexpr std::uint64_t most_cpus = 65536;
  std::vector<int> cpus;
  list = trimmed(list);
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view part = list.substr(0, comma);
    const std::size_t dash = part.find('-');
    const auto first = number_of(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_of(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= most_cpus) return {};
    for (std::uint64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  std::ranges::sort(cpus);
  const auto doubles = std::ranges::unique(cpus);
  cpus.erase(doubles.begin(), doubles.end());
  return cpus;
}

std::string cpu_list_text(std::span<const int> cpus) {
  std::string text;
  for (std::size_t first = 0; first < cpus.size();) {
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[first]);
    if (last > first) text += '-' + std::to_string(cpus[last]);
    first = last + 1;
  }
  return text;
}

std::vector<int> parse_pids(std::string_view pids) {
  std::vector<int> found;
  for (const std::string_view word : words_of(pids)) {
    const auto pid = number_of(word);
    if (pid && *pid > 0 && *pid <= INT_MAX) found.push_back(static_cast<int>(*pid));
  }
  return found;
}

}  // namespace ullage
