// SPDX-License-Identifier: Apache-2.0
#include "run/stage_limits.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>

namespace ullage {
namespace {

std::int64_t limit_at(double bytes_per_s, std::int64_t least_ns, std::uint64_t bytes) {
  constexpr auto most = static_cast<double>(std::numeric_limits<std::int64_t>::max()) / 2;
  const double needed = std::min(static_cast<double>(bytes) / bytes_per_s * 1e9, most);
  return std::max(least_ns, static_cast<std::int64_t>(needed));
}

}  // namespace

std::int64_t stage_limit_ns(std::int64_t least_ns, std::uint64_t bytes) {
  return limit_at(slowest_bytes_per_s, least_ns, bytes);
}

std::int64_t filling_limit_ns(std::int64_t least_ns, std::uint64_t bytes) {
  return limit_at(slowest_filled_bytes_per_s, least_ns, bytes);
}

std::int64_t flush_limit_ns(std::int64_t least_ns, std::uint64_t written_bytes, int ranks, std::uint64_t memory_bytes) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(written_bytes, static_cast<std::uint64_t>(ranks), &bytes)) bytes = memory_bytes;
  return stage_limit_ns(least_ns, memory_bytes > 0 ? std::min(bytes, memory_bytes) : bytes);
}

std::uint64_t physical_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : 0;
}

}  // namespace ullage
