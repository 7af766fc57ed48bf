// SPDX-License-Identifier: Apache-2.0
// What the kernel's counter files say. Pure functions over their texts: nothing where a text is not what it should be.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <climits>

#include "base/descriptor.hpp"
#include "base/std.hpp"

namespace ullage {

// Reading the kernel's small texts. All of them may be missing, cut short or of another version: nothing is ever
// assumed.

/// The whole file; nothing when it cannot be read.
[[nodiscard]] inline std::optional<std::string> read_text(const std::string& path) {
  // Not a stream: its buffers would double what a kernel file costs, and these are read around every phase.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  constexpr std::size_t step = 4096;
  std::string text;
  for (;;) {
    const std::size_t had = text.size();
    text.resize(had + step);
    const ssize_t got = ::read(file.get(), text.data() + had, step);
    if (got < 0) return std::nullopt;
    text.resize(had + static_cast<std::size_t>(got));
    if (got == 0) return text;
  }
}

inline constexpr std::string_view blanks = " \t\r\n";

[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Its first line without blanks at the ends; nothing when it cannot be read or is empty.
[[nodiscard]] inline std::optional<std::string> read_word(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return std::nullopt;
  const std::string_view word = trimmed(std::string_view(*text).substr(0, text->find('\n')));
  return word.empty() ? std::nullopt : std::optional<std::string>(word);
}

/// What stands between separators. One at the end begins no further part.
[[nodiscard]] inline std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

[[nodiscard]] inline std::vector<std::string_view> lines_of(std::string_view text) { return split_at(text, '\n'); }

/// Separated by blanks and tabs.
[[nodiscard]] inline std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    words.push_back(line.substr(0, line.find_first_of(blanks)));
    line.remove_prefix(words.back().size());
  }
}

/// Resolves the kernel's \ooo, which stand for blanks and backslashes in names.
[[nodiscard]] inline std::string unescaped(std::string_view text) {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && octal(text[i + 1]) && octal(text[i + 2]) && octal(text[i + 3])) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

/// A whole word of decimal digits.
[[nodiscard]] inline std::optional<std::uint64_t> number_of(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

/// Word `index` of a line as a number.
[[nodiscard]] inline std::optional<std::uint64_t> number_at(const std::vector<std::string_view>& words,
                                                            std::size_t index) {
  return index < words.size() ? number_of(words[index]) : std::nullopt;
}

/// The number behind a key in a text of lines "key: value" or "key value"; what follows it ("kB") is left out.
[[nodiscard]] inline std::optional<std::uint64_t> number_of_key(std::string_view text, std::string_view key) {
  for (const std::string_view line : lines_of(text)) {
    const auto words = words_of(line);
    if (words.empty()) continue;
    std::string_view name = words[0];
    if (name.ends_with(':')) name.remove_suffix(1);
    if (name == key) return number_at(words, 1);
  }
  return std::nullopt;
}

/// First line of /proc/stat, in ticks of sysconf(_SC_CLK_TCK) over all CPUs, and how many CPUs are listed.
/// Guest time is part of user and nice and not counted again.
struct CpuTicks {
  std::uint64_t user = 0;
  std::uint64_t nice = 0;
  std::uint64_t system = 0;
  std::uint64_t idle = 0;
  std::uint64_t iowait = 0;
  std::uint64_t irq = 0;
  std::uint64_t softirq = 0;
  std::uint64_t steal = 0;
  int cpus = 0;
};

[[nodiscard]] inline std::optional<CpuTicks> parse_cpu_ticks(std::string_view proc_stat) {
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

/// /proc/PID/io. `write_bytes` counts bytes as they are dirtied, also those deleted before they reach the storage.
struct ProcessIo {
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
};

[[nodiscard]] inline std::optional<ProcessIo> parse_process_io(std::string_view proc_io) {
  const auto read = number_of_key(proc_io, "read_bytes");
  const auto written = number_of_key(proc_io, "write_bytes");
  if (!read || !written) return std::nullopt;
  return ProcessIo{*read, *written};
}

/// Time in us during which some task was stalled, from /proc/pressure/*.
[[nodiscard]] inline std::optional<std::uint64_t> parse_pressure_us(std::string_view pressure) {
  constexpr std::string_view total = "total=";
  for (const std::string_view line : lines_of(pressure)) {
    const auto words = words_of(line);
    if (words.empty() || words[0] != "some") continue;
    for (const std::string_view word : words)
      if (word.starts_with(total)) return number_of(word.substr(total.size()));
  }
  return std::nullopt;
}

/// Time in ns for which a task was ready and had no core, from /proc/PID/schedstat; nothing where the kernel does not
/// count it.
[[nodiscard]] inline std::optional<std::uint64_t> parse_run_delay_ns(std::string_view schedstat) {
  const auto words = words_of(schedstat);
  const auto slices = number_at(words, 2);
  if (!slices || *slices == 0) return std::nullopt;  // a running task has had a slice: the kernel does not count
  return number_at(words, 1);
}

/// "0-3,8,10-11" in ascending order, without doubles; empty when any part is not a number or a range of at most 65536.
[[nodiscard]] inline std::vector<int> parse_cpu_list(std::string_view list) {
  constexpr std::uint64_t most_listed_cpus = 65536;
  std::vector<int> cpus;
  list = trimmed(list);
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view part = list.substr(0, comma);
    const std::size_t dash = part.find('-');
    const auto first = number_of(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_of(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= most_listed_cpus) return {};
    for (std::uint64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  std::ranges::sort(cpus);
  const auto doubles = std::ranges::unique(cpus);
  cpus.erase(doubles.begin(), doubles.end());
  return cpus;
}

/// The list of these CPUs, which are in order: "0-2,5".
[[nodiscard]] inline std::string cpu_list_text(std::span<const int> cpus) {
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

/// Process numbers separated by blanks; what is none is left out.
[[nodiscard]] inline std::vector<int> parse_pids(std::string_view pids) {
  std::vector<int> found;
  for (const std::string_view word : words_of(pids)) {
    const auto pid = number_of(word);
    if (pid && *pid > 0 && *pid <= INT_MAX) found.push_back(static_cast<int>(*pid));
  }
  return found;
}

/// Returns what /proc/cpuinfo, a text of lines "key : value", says of its first CPU.
[[nodiscard]] inline std::optional<std::string> cpuinfo_value(std::string_view cpuinfo, std::string_view key) {
  for (const std::string_view line : lines_of(cpuinfo)) {
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key)
      return std::string(trimmed(line.substr(colon + 1)));
  }
  return std::nullopt;
}

/// "madvise" of "always [madvise] never".
[[nodiscard]] inline std::optional<std::string> chosen_word(std::string_view choices) {
  for (const std::string_view word : words_of(choices))
    if (word.size() > 2 && word.starts_with('[') && word.ends_with(']'))
      return std::string(word.substr(1, word.size() - 2));
  return std::nullopt;
}

}  // namespace ullage
