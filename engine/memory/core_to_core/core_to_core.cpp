// SPDX-License-Identifier: Apache-2.0
// Workload `core-to-core`: how long a cache line takes from one core to another and back.
#include "memory/core_to_core/core_to_core.hpp"

#include <thread>

#include "base/affinity.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

/// Far more looks than a line takes to arrive: the other thread has no core just now.
constexpr int looks_before_giving_way = 1 << 16;

void wait_for(const std::atomic<std::uint64_t>& counter, std::uint64_t number) {
  for (int looks = 0; counter.load(std::memory_order_acquire) != number; ++looks)
    if (looks >= looks_before_giving_way) std::this_thread::yield();
}

std::string cpus_text(std::span<const int> cpus) {
  std::string text;
  for (const int cpu : cpus) text += (text.empty() ? "" : ", ") + std::to_string(cpu);
  return text;
}

std::unique_ptr<Workload> make_core_to_core(const CoreToCoreParameters& given, const WorkloadContext& context) {
  auto parameters = given;
  auto pair = choose_pair(parameters, allowed_cpus());
  if (pair) parameters.cpus = *pair;
  auto kernel = std::make_unique<CoreToCoreKernel>(pair ? Status{} : fail(pair.error()));
  return windowed_workload("core-to-core", parameters, context, std::move(kernel));
}

const Registered<WorkloadEntry> registered_core_to_core{without_storage<CoreToCoreParameters>({
    .name = "core-to-core",
    .doc = "Two threads pass a counter back and forth in one cache line, by ordinary loads and stores.",
    .check = on_any_ranks(check_core_to_core),
    .make = make_core_to_core,
})};

}  // namespace

Table<CoreToCoreParameters> CoreToCoreParameters::table() {
  using P = CoreToCoreParameters;
  return joined<P>(timing(), Table<P>{
                                 count("cpu_a", &P::cpu_a, {-1, 8191},
                                       "Run one thread on the CPU of this number, as the kernel counts; -1 means the "
                                       "first allowed CPU."),
                                 count("cpu_b", &P::cpu_b, {-1, 8191},
                                       "Run the other thread on the CPU of this number; -1 means the last allowed "
                                       "CPU."),
                             });
}

Status check_core_to_core(const CoreToCoreParameters& p, const std::string& pointer) {
  if (p.cpu_a == p.cpu_b && p.cpu_a >= 0)
    return fail(bad_plan(pointer + "/cpu_b", "must be a different CPU than cpu_a"));
  return {};
}

Result<std::vector<int>> choose_pair(const CoreToCoreParameters& p, std::span<const int> allowed) {
  std::vector<int> pair{p.cpu_a < 0 ? allowed.front() : p.cpu_a, p.cpu_b < 0 ? allowed.back() : p.cpu_b};
  for (const int cpu : pair)
    if (std::ranges::find(allowed, cpu) == allowed.end())
      return fail(environment_error("cpu " + std::to_string(cpu),
                                    "this process may not run on this CPU; allowed CPUs: " + cpus_text(allowed)));
  if (pair[0] == pair[1])
    return fail(environment_error("cpu " + std::to_string(pair[0]),
                                  "needs two CPUs; this process may run on " + cpus_text(allowed)));
  return pair;
}

void CoreToCoreKernel::run(std::size_t thread, std::uint64_t passes) {
  const std::uint64_t first = trips_.at(thread).made;
  const std::uint64_t last = first + passes * trips_a_pass;
  for (std::uint64_t trip = first; trip < last; ++trip) {
    const std::uint64_t turn = 2 * trip + thread;
    wait_for(ball_.counter, turn);
    ball_.counter.store(turn + 1, std::memory_order_release);
  }
  // The last answer is part of the trip.
  if (thread == 0) wait_for(ball_.counter, 2 * last);
  trips_.at(thread).made = last;
}

Status CoreToCoreKernel::check() {
  const std::uint64_t counted = ball_.counter.load();
  for (const Trips& trips : trips_) {
    if (counted == 2 * trips.made) continue;
    const std::string right = std::to_string(2 * trips.made);
    const std::string found = std::to_string(counted);
    return fail(verification_error("check", "counter", "is " + found + ", should be " + right, right, found));
  }
  return {};
}

void CoreToCoreKernel::report(const WindowTotals& totals, Gauges& gauges) const {
  gauges["round_trips"] = static_cast<double>(totals.passes * trips_a_pass);
}

}  // namespace ullage
