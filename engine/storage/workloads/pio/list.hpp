// SPDX-License-Identifier: Apache-2.0
// A list of transfers, as a trace of a program has them: each on its rank, at its place and of its length. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace ullage {

/// Transfers of one rank that begin at equal distances, in their order.
struct PioRun {
  std::uint64_t rank = 0;
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
  std::uint64_t count = 0;
  std::int64_t stride_bytes = 0;

  [[nodiscard]] std::uint64_t offset(std::uint64_t index) const {
    return offset_bytes + index * static_cast<std::uint64_t>(stride_bytes);
  }
  [[nodiscard]] std::uint64_t end_bytes() const { return std::max(offset(0), offset(count - 1)) + length_bytes; }
};

/// The runs of `RANK:OFFSET:LENGTH:COUNT:STRIDE`, with spaces between; none where one is no such run, or leads to
/// before the file or beyond 2^60.
inline std::vector<PioRun> pio_runs(std::string_view list) {
  constexpr std::int64_t most = std::int64_t{1} << 60;
  constexpr std::int64_t longest = std::int64_t{1} << 30;
  std::vector<PioRun> runs;
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(' '));
    list.remove_prefix(std::min(list.size(), word.size() + 1));
    std::array<std::int64_t, 5> numbers{};
    std::size_t at = 0;
    for (std::int64_t& number : numbers) {
      const char* const end = word.data() + word.size();
      const auto [next, error] = std::from_chars(word.data() + std::min(at, word.size()), end, number);
      const bool is_last = &number == &numbers.back();
      if (error != std::errc() || (is_last ? next != end : next == end || *next != ':')) return {};
      at = static_cast<std::size_t>(next - word.data()) + 1;
    }
    const auto [rank, offset, length, count, stride] = numbers;
    const bool is_inside = rank >= 0 && offset >= 0 && offset <= most && length > 0 && length <= longest && count > 0 &&
                           count <= most && stride >= -most && stride <= most;
    if (!is_inside || (stride > 0 && (most - offset) / stride < count) || (stride < 0 && offset / -stride < count - 1))
      return {};
    runs.push_back({static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(offset),
                    static_cast<std::uint64_t>(length), static_cast<std::uint64_t>(count), stride});
  }
  return runs;
}

/// A list as one rank knows it, in one file or in a file of each rank.
struct PioList {
  std::vector<PioRun> runs;          // of this rank
  std::vector<std::uint64_t> ends;   // of each of them, in transfers
  std::uint64_t most_transfers = 0;  // of a rank
  std::uint64_t longest_bytes = 1;   // of any rank
  std::uint64_t end_bytes = 0;       // of the rank's file
  std::uint64_t bytes = 0;           // of all ranks

  PioList(std::string_view list, std::uint64_t rank, bool per_rank) {
    std::map<std::uint64_t, std::uint64_t> counts;
    for (const PioRun& run : pio_runs(list)) {
      longest_bytes = std::max(longest_bytes, run.length_bytes);
      bytes += run.length_bytes * run.count;
      most_transfers = std::max(most_transfers, counts[run.rank] += run.count);
      if (!per_rank || run.rank == rank) end_bytes = std::max(end_bytes, run.end_bytes());
      if (run.rank != rank) continue;
      runs.push_back(run);
      ends.push_back(counts[rank]);
    }
  }

  [[nodiscard]] std::uint64_t transfers() const { return ends.empty() ? 0 : ends.back(); }
  /// The run that a transfer of this rank is in, and where the transfer begins.
  [[nodiscard]] std::pair<const PioRun*, std::uint64_t> at(std::uint64_t index) const {
    const auto place = static_cast<std::size_t>(std::ranges::upper_bound(ends, index) - ends.begin());
    const PioRun& run = runs[place];
    return {&run, run.offset(index - (ends[place] - run.count))};
  }
};

}  // namespace ullage
