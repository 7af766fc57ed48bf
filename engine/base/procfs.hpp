// SPDX-License-Identifier: Apache-2.0
// What the kernel's counter files say. Pure functions over their texts: nothing where a text is not what it should be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ullage {

// Reading the kernel's small texts. All of them may be missing, cut short or of another version: nothing is ever
// assumed.

/// The whole file; nothing when it cannot be read.
[[nodiscard]] std::optional<std::string> read_text(const std::string& path);
/// Its first line without blanks at the ends; nothing when it cannot be read or is empty.
[[nodiscard]] std::optional<std::string> read_word(const std::string& path);

[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);
/// Separated by blanks and tabs.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view line);
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// Resolves the kernel's \ooo, which stand for blanks and backslashes in names.
[[nodiscard]] std::string unescaped(std::string_view text);

/// A whole word of decimal digits.
[[nodiscard]] std::optional<std::uint64_t> number_of(std::string_view word);
/// Word `index` of a line as a number.
[[nodiscard]] std::optional<std::uint64_t> number_at(const std::vector<std::string_view>& words, std::size_t index);
/// The number behind a key in a text of lines "key: value" or "key value"; what follows it ("kB") is left out.
[[nodiscard]] std::optional<std::uint64_t> number_of_key(std::string_view text, std::string_view key);

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
[[nodiscard]] std::optional<CpuTicks> parse_cpu_ticks(std::string_view proc_stat);

/// /proc/PID/io. `write_bytes` counts bytes as they are dirtied, also those deleted before they reach the storage.
struct ProcessIo {
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
};
[[nodiscard]] std::optional<ProcessIo> parse_process_io(std::string_view proc_io);

/// Time in us during which some task was stalled, from /proc/pressure/*.
[[nodiscard]] std::optional<std::uint64_t> parse_pressure_us(std::string_view pressure);

/// Time in ns for which a task was ready and had no core, from /proc/PID/schedstat; nothing where the kernel does not
/// count it.
[[nodiscard]] std::optional<std::uint64_t> parse_run_delay_ns(std::string_view schedstat);

/// "0-3,8,10-11" in ascending order, without doubles; empty when any part is not a number or a range of at most 65536.
[[nodiscard]] std::vector<int> parse_cpu_list(std::string_view list);
/// The list of these CPUs, which are in order: "0-2,5".
[[nodiscard]] std::string cpu_list_text(std::span<const int> cpus);

/// Process numbers separated by blanks; what is none is left out.
[[nodiscard]] std::vector<int> parse_pids(std::string_view pids);

/// Returns what /proc/cpuinfo, a text of lines "key : value", says of its first CPU.
[[nodiscard]] std::optional<std::string> cpuinfo_value(std::string_view cpuinfo, std::string_view key);

/// "madvise" of "always [madvise] never".
[[nodiscard]] std::optional<std::string> chosen_word(std::string_view choices);

}  // namespace ullage
