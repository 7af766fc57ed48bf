// SPDX-License-Identifier: Apache-2.0
// Workload `loaded-latency` as a plan has it.
#include <gtest/gtest.h>

#include "memory/loaded_latency/loaded_latency.hpp"
#include "memory/test_support.hpp"

namespace ullage::loaded_latency_test {

using test::MpiMemoryWorkload;

TEST_F(MpiMemoryWorkload, LoadedLatencyCountsTheChaseAlone) {
  const Values given{{"working_set_bytes", 1 << 18}};
  ASSERT_EQ(run("loaded-latency", given), PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(sum("threads"), 2.0 * world_.size());
  EXPECT_GT(sum("accesses"), 0);
  EXPECT_GT(sum("chase_s"), 0);
  EXPECT_LE(sum("chase_s"), sum("kernel_s"));
}

TEST_F(MpiMemoryWorkload, LoadedLatencyRefusesWhatCannotBe) {
  EXPECT_FALSE(entry("loaded-latency").works_on_storage());
  EXPECT_EQ(refusal("loaded-latency", {}), "");
  EXPECT_NE(refusal("loaded-latency", {{"working_set_bytes", 4096}}).find("/p/working_set_bytes"), std::string::npos);
  EXPECT_NE(refusal("loaded-latency", {{"threads", 2}}), "");
}

LoadedLatencyParameters parameters(Injection injection, std::uint64_t delay = 0) {
  LoadedLatencyParameters p;
  p.injection = injection;
  p.delay = delay;
  p.working_set_bytes = 100'000;  // no multiple of what is injected in one go
  return p;
}

constexpr std::array<Injection, 3> all_injections{Injection::read, Injection::write, Injection::non_temporal_write};

bool runs_here(const LoadedLatencyParameters& p) { return !stream_candidates(p.kind(), p.stores(), 0).empty(); }

void run_both(LoadedLatencyKernel& kernel, std::uint64_t passes) {
  const std::jthread other([&] { kernel.run(1, passes); });
  kernel.run(0, passes);
}

TEST(Injector, GoesRoundItsMemoryAndIsVerified) {
  for (const Injection injection : all_injections)
    for (const std::uint64_t delay : {0U, 10U, 2000U}) {
      const auto p = parameters(injection, delay);
      if (!runs_here(p)) continue;
      auto injector = Injector::make(p);
      ASSERT_TRUE(injector);
      std::uint64_t moved = 0;
      while (moved < 250'000) {
        moved += injector->inject();
        ASSERT_TRUE(injector->check()) << "after " << moved << " bytes";
      }
    }
}

TEST(Injector, CorruptedMemoryIsFound) {
  for (const Injection injection : all_injections) {
    const auto p = parameters(injection);
    if (!runs_here(p)) continue;
    auto injector = Injector::make(p);
    ASSERT_TRUE(injector);
    (void)injector->inject();
    if (injection == Injection::read) {
      injector->memory()[65'000] ^= std::byte{1};
      (void)injector->inject();
    } else {
      injector->memory()[65'000] ^= std::byte{1};  // not written so far
    }
    EXPECT_FALSE(injector->check());
  }
}

TEST(Injector, LongerPausesMeanShorterPieces) {
  auto none = Injector::make(parameters(Injection::read));
  auto longest = Injector::make(parameters(Injection::read, 2000));
  EXPECT_EQ(none->inject(), 512 * stream_line);
  EXPECT_EQ(longest->inject(), stream_line);
}

TEST(LoadedLatency, InjectorsWorkUntilTheChaseEnds) {
  for (const Injection injection : all_injections) {
    const auto p = parameters(injection);
    if (!runs_here(p)) continue;
    LoadedLatencyKernel kernel(p, 3, 1);
    for (const std::size_t thread : {0U, 1U}) ASSERT_TRUE(kernel.make_ready(thread));
    run_both(kernel, 1);
    kernel.timing_begins();
    run_both(kernel, 200);
    run_both(kernel, 200);
    EXPECT_TRUE(kernel.check());
    WindowTotals totals;
    totals.passes = 400;
    totals.threads = 2;
    Gauges gauges;
    kernel.report(totals, gauges);
    EXPECT_EQ(gauges["accesses"], 400.0 * ChaseKernel::steps_a_pass);
    EXPECT_GT(gauges["chase_s"], 0);
    const double bus = injection == Injection::write ? 2 : 1;
    EXPECT_EQ(gauges["injected_bus_bytes"], bus * gauges["injected_bytes"]);
  }
}

TEST(LoadedLatency, WithoutInjectorsIsTheIdleLatency) {
  auto p = parameters(Injection::read);
  p.injectors = 0;
  LoadedLatencyKernel kernel(p, 3, 1);
  ASSERT_TRUE(kernel.make_ready(0));
  kernel.run(0, 2);
  EXPECT_TRUE(kernel.check());
  Gauges gauges;
  kernel.report({}, gauges);
  EXPECT_EQ(gauges["injected_bytes"], 0);
  EXPECT_GT(gauges["chase_s"], 0);
}

TEST(LoadedLatency, WhatCannotBeIsRefused) {
  auto p = parameters(Injection::read);
  EXPECT_TRUE(check_loaded_latency(p, "/p"));
  p.working_set_bytes = 4096;
  EXPECT_FALSE(check_loaded_latency(p, "/p"));
  p.delay = 100'000;
  EXPECT_TRUE(check_loaded_latency(p, "/p"));
  p.working_set_bytes = std::uint64_t{1} << 37U;
  LoadedLatencyKernel kernel(p, 3, 1 << 12);
  EXPECT_FALSE(kernel.make_ready(0));
}

}  // namespace ullage::loaded_latency_test
