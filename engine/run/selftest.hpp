// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <iosfwd>
#include <limits>
#include <memory>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned_buffer.hpp"
#include "base/clock.hpp"
#include "base/histogram.hpp"
#include "base/meter.hpp"
#include "base/payload.hpp"
#include "base/payload_fill.hpp"
#include "base/permutation.hpp"
#include "base/result.hpp"

namespace ullage {

struct Finding {
  bool right = false;
  std::string figures;
};

inline Finding check_clock() {
  std::int64_t backward = 0;
  std::int64_t least_step = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = now_ns();
  for (int i = 0; i < 1'000'000; ++i) {
    const std::int64_t now = now_ns();
    backward += now < last;
    if (now > last) least_step = std::min(least_step, now - last);
    last = now;
  }
  const std::int64_t cost = clock_read_cost_ns();
  return {backward == 0, std::to_string(cost) + " ns a read, smallest step " + std::to_string(least_step) +
                             " ns, went back " + std::to_string(backward) + " times in 1000000 reads"};
}

inline std::string rounded(double value) {
  std::ostringstream text;
  text.precision(1);
  text << std::fixed << value;
  return text.str();
}

inline double ns_each(std::int64_t start_ns, std::uint64_t count) {
  return static_cast<double>(now_ns() - start_ns) / static_cast<double>(count);
}

/// Worst relative error of a bucket's midpoint over values of all sizes.
inline double worst_bucket_error() {
  double worst = 0;
  for (std::uint64_t value = 1; value < std::uint64_t{1} << 42; value += value / 1000 + 1) {
    const auto exact = static_cast<double>(value);
    const auto midpoint = static_cast<double>(Histogram::midpoint_of(Histogram::bucket_of(value)));
    worst = std::max(worst, std::max(midpoint - exact, exact - midpoint) / exact);
  }
  return worst;
}

inline Finding check_histogram() {
  constexpr std::uint64_t adds = 10'000'000;
  const double worst = worst_bucket_error();
  const auto histogram = std::make_unique<Histogram>();
  const std::int64_t start = now_ns();
  for (std::uint64_t i = 0; i < adds; ++i) histogram->add(static_cast<std::int64_t>(i & 0xfffff));
  const double cost = ns_each(start, adds);
  const bool right = worst <= 1.0 / 256 && histogram->operations() == adds;
  return {right, rounded(cost) + " ns a value, midpoints at most " + rounded(worst * 1e6) + " ppm off (bound " +
                     rounded(1e6 / 256) + ")"};
}

inline Finding check_meter() {
  constexpr std::uint64_t operations = 1'000'000;
  const auto meter = std::make_unique<Meter>();
  const std::int64_t start = now_ns();
  meter->start(start);
  for (std::uint64_t i = 0; i < operations && meter->completed(4096); ++i) continue;
  const double cost = ns_each(start, operations);
  return {meter->operations() == operations && meter->histogram().operations() == operations,
          rounded(cost) + " ns an operation, clock read included"};
}

inline Finding check_permutation() {
  constexpr std::uint64_t size = 1'000'003;
  const Permutation permutation(size, 1);
  std::vector<bool> seen(size, false);
  std::uint64_t distinct = 0;
  const std::int64_t start = now_ns();
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::uint64_t image = permutation(i);
    if (image >= size || seen[image]) continue;
    seen[image] = true;
    ++distinct;
  }
  const double cost = ns_each(start, size);
  return {distinct == size, rounded(cost) + " ns an index, " + std::to_string(distinct) + " of " +
                                std::to_string(size) + " places distinct"};
}

inline constexpr std::uint64_t payload_bytes = std::uint64_t{64}
                                               << 20;  // more than most last-level caches leave a core

/// One bad bit, one missing block, one misplaced block, one buffer never filled: how many of the four are noticed.
inline int damage_noticed(const Payload& payload, std::span<std::byte> transfer, std::uint64_t offset_bytes) {
  const auto block = transfer.subspan(transfer.size() / 2, 512);
  const std::array<std::function<void()>, 4> damages{
      [&] { block[17] ^= std::byte{4}; },
      [&] { std::ranges::fill(block, std::byte{0}); },
      [&] { std::ranges::copy(transfer.first(512), block.begin()); },
      [&] { Payload::poison(block); },
  };
  int noticed = 0;
  for (const auto& damage : damages) {
    payload.fill(transfer, 0, offset_bytes);
    damage();
    noticed += payload.check(transfer, 0, offset_bytes).bad_blocks == 1;
  }
  payload.fill(transfer, 0, offset_bytes);
  return noticed;
}

inline constexpr std::uint64_t part_bytes = std::uint64_t{4} << 20;

/// GB/s of calls that make `payload_bytes` together, by the fastest part of them: what else a machine does falls into
/// the others.
inline std::string payload_rate(std::uint64_t transfer_bytes, const auto& each) {
  const std::uint64_t calls = std::max<std::uint64_t>(payload_bytes / transfer_bytes, 1);
  const std::uint64_t part = std::max<std::uint64_t>(part_bytes / transfer_bytes, 1);
  double best = 0;
  for (std::uint64_t first = 0; first < calls; first += part) {
    const std::int64_t start = now_ns();
    for (std::uint64_t i = first; i < first + part; ++i) each(i);
    const auto took_ns = static_cast<double>(std::max<std::int64_t>(now_ns() - start, 1));
    best = std::max(best, static_cast<double>(part * transfer_bytes) / took_ns);
  }
  return rounded(best);
}

/// Into memory, where each transfer has a place of its own, and again and again into the same place.
inline Finding check_payload(std::uint64_t transfer_bytes) {
  const Payload payload({.run_key = 1, .transfer_bytes = transfer_bytes, .file_bytes = std::uint64_t{1} << 40});
  AlignedBuffer arena(std::max(payload_bytes, transfer_bytes));
  const auto transfer = [&](std::uint64_t index) {
    return arena.bytes().subspan(index * transfer_bytes, transfer_bytes);
  };
  std::uint64_t bad = 0;
  const auto fill = [&](std::uint64_t i) { payload.fill(transfer(i), 0, i * transfer_bytes); };
  const auto refill = [&](std::uint64_t i) { payload.fill(transfer(0), 0, i * transfer_bytes); };
  const auto check = [&](std::uint64_t i) { bad += payload.check(transfer(i), 0, i * transfer_bytes).bad_blocks; };
  const std::string filled = payload_rate(transfer_bytes, fill);
  const std::string checked = payload_rate(transfer_bytes, check);
  const std::string refilled = payload_rate(transfer_bytes, refill);
  const int noticed = damage_noticed(payload, transfer(0), 0);
  return {bad == 0 && noticed == 4, "fill " + filled + ", in one place " + refilled + ", check " + checked +
                                        " GB/s by " + widest_payload_fill().description.name + ", " +
                                        std::to_string(bad) + " bad blocks in sound data, " + std::to_string(noticed) +
                                        " of 4 kinds of damage noticed"};
}

/// Checks whether this machine measures right: clock, latency histogram, payload (made, found again, every kind of
/// damage noticed) and permutation. One rank, about a second, no storage. Prints a line a check with what was measured;
/// the error names the first check that failed, after all have run.
[[nodiscard]] inline Status selftest(std::ostream& out) {
  const std::array<std::pair<std::string, std::function<Finding()>>, 8> checks{{
      {"clock", check_clock},
      {"histogram", check_histogram},
      {"meter", check_meter},
      {"permutation", check_permutation},
      {"payload of 4 KiB", [] { return check_payload(4 << 10); }},
      {"payload of 64 KiB", [] { return check_payload(64 << 10); }},
      {"payload of 1 MiB", [] { return check_payload(1 << 20); }},
      {"payload of 16 MiB", [] { return check_payload(16 << 20); }},
  }};
  std::string failed;
  for (const auto& [name, check] : checks) {
    const Finding finding = check();
    out << (finding.right ? "ok    " : "WRONG ") << name << ": " << finding.figures << '\n' << std::flush;
    if (!finding.right && failed.empty()) failed = name + ": " + finding.figures;
  }
  if (failed.empty()) return {};
  return fail(environment_error("selftest", "this machine or build does not measure correctly: " + failed));
}

}  // namespace ullage
