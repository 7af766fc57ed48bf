// SPDX-License-Identifier: Apache-2.0
// What the engine's own code costs inside and around the timer: medians of interleaved runs, so that a disturbance of
// the machine meets all candidates alike. Not a test: nothing here is asserted.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/aligned_buffer.hpp"
#include "core/clock.hpp"
#include "core/histogram.hpp"
#include "core/meter.hpp"
#include "core/payload.hpp"

namespace {

using namespace ullage;

constexpr int runs = 11;

struct Candidate {
  std::string name;
  std::uint64_t work = 0;  // operations or bytes of one call of `body`
  std::function<void()> body;
};

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + runs / 2);
  return values[runs / 2];
}

/// ns per unit of work of each candidate.
std::vector<double> measure(const std::vector<Candidate>& candidates) {
  std::vector<std::vector<double>> samples(candidates.size());
  for (int run = 0; run < runs; ++run)
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const std::int64_t start = now_ns();
      candidates[i].body();
      samples[i].push_back(static_cast<double>(now_ns() - start) / static_cast<double>(candidates[i].work));
    }
  std::vector<double> medians;
  for (const auto& sample : samples) medians.push_back(median(sample));
  return medians;
}

void bench_operations() {
  constexpr std::uint64_t operations = 1'000'000;
  const std::atomic<bool> stop = false;
  const auto meter = std::make_unique<Meter>(stop);
  const auto histogram = std::make_unique<Histogram>();
  const auto meter_loop = [&](bool with_histogram) {
    meter->use_histogram(with_histogram);
    meter->start(now_ns());
    for (std::uint64_t i = 0; i < operations && meter->completed(4096); ++i) continue;
  };
  const std::vector<Candidate> candidates{
      {"clock read", operations,
       [] {
         for (std::uint64_t i = 0; i < operations; ++i) (void)now_ns();
       }},
      {"histogram add", operations,
       [&] {
         for (std::uint64_t i = 0; i < operations; ++i) histogram->add(static_cast<std::int64_t>(i & 0xffff));
       }},
      {"meter, histogram off", operations, [&] { meter_loop(false); }},
      {"meter, histogram on", operations, [&] { meter_loop(true); }},
  };
  const auto costs = measure(candidates);
  for (std::size_t i = 0; i < candidates.size(); ++i)
    std::printf("%-24s %8.2f ns\n", candidates[i].name.c_str(), costs[i]);
}

void bench_payload(std::uint64_t transfer_bytes, double compress_ratio) {
  const Payload payload({.run_key = 1,
                         .transfer_bytes = transfer_bytes,
                         .compress_ratio = compress_ratio,
                         .file_bytes = std::uint64_t{1} << 50});
  const std::uint64_t slots = payload.slots();
  AlignedBuffer arena(slots * transfer_bytes);
  const auto over_all = [&](const auto& each) {
    for (std::uint64_t i = 0; i < slots; ++i)
      each(arena.bytes().subspan(i * transfer_bytes, transfer_bytes), i * transfer_bytes);
  };
  std::uint64_t bad = 0;
  const auto costs = measure({
      {"fill", arena.size(),
       [&] { over_all([&](std::span<std::byte> b, std::uint64_t offset) { payload.fill(b, 0, offset); }); }},
      {"retag", arena.size(),
       [&] { over_all([&](std::span<std::byte> b, std::uint64_t offset) { payload.retag(b, 0, offset); }); }},
      {"check", arena.size(),
       [&] {
         over_all([&](std::span<std::byte> b, std::uint64_t offset) { bad += payload.check(b, 0, offset).bad_blocks; });
       }},
  });
  std::printf("payload %9llu B, compress %g: fill %6.1f  retag %6.1f  check %6.1f GB/s%s\n",
              static_cast<unsigned long long>(transfer_bytes), compress_ratio, 1 / costs[0], 1 / costs[1], 1 / costs[2],
              bad == 0 ? "" : "  WRONG DATA");
}

}  // namespace

int main() {
  bench_operations();
  for (const double ratio : {1.0, 2.0})
    for (const std::uint64_t transfer : {4UL << 10, 47008UL, 64UL << 10, 1UL << 20, 16UL << 20})
      bench_payload(transfer, ratio);
}
