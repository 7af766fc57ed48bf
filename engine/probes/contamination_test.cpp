// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <thread>

#include "base/descriptor.hpp"
#include "base/procfs.hpp"
#include "probes/cpu_clocks.hpp"
#include "probes/probe.hpp"

namespace ullage::contamination_test {

constexpr std::int64_t phase_ns = 300'000'000;

std::int64_t own_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// Children that do nothing but use cores: one for each, so that ranks that work have to wait.
class Hogs final : Pinned {
 public:
  explicit Hogs(bool some) {
    const long cpus = some ? sysconf(_SC_NPROCESSORS_ONLN) : 0;
    for (long i = 0; i < cpus; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(60);  // should this process be killed
        for (;;) {
        }
      }
      if (child > 0) children_.push_back(child);
    }
  }
  ~Hogs() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  [[nodiscard]] bool running() const { return !children_.empty(); }

 private:
  std::vector<pid_t> children_;
};

template <class Phase>
Json probed(const mpi::World& world, Probe& probe, const Phase& phase) {
  PhaseScope scope;
  scope.world = &world;
  Json record = Json::object();
  probe.begin(scope);
  world.all().barrier();
  phase();
  probe.end(scope);
  world.all().barrier();
  probe.settle(scope);
  scope.elapsed_ns = phase_ns;
  probe.report(scope, record);
  return record;
}

std::unique_ptr<Probe> contamination() { return Registry<ProbeEntry>::instance().find("contamination")->make(); }

void work_a_phase() {
  const std::int64_t begun_ns = now_ns();
  while (now_ns() - begun_ns < phase_ns) {
  }
}

TEST(MpiContamination, RanksThatWaitForSomebodyElsesWorkAreDirty) {
  const mpi::World world;
  const auto probe = contamination();
  const Hogs hogs(world.root());
  if (world.root()) {
    ASSERT_TRUE(hogs.running());
  }
  const std::string expected = kernel_threads() ? "C" : "?";
  Json record;
  bool seen = false;
  for (int tries = 0; tries < 30 && !seen; ++tries) {
    record = probed(world, *probe, work_a_phase);
    seen = world.all().any(world.root() && record["grade"] == expected);
  }
  if (!world.root()) {
    EXPECT_FALSE(record.contains("grade"));
    return;
  }
  EXPECT_TRUE(seen) << record.dump();
  EXPECT_GE(record["contamination"]["foreign_cpu_ppm"].get<std::int64_t>(), 50'000) << record.dump();
  EXPECT_FALSE(record["contamination"]["reasons"].empty());
}

TEST(MpiContamination, TheWaitOfAnyThreadIsThatOfItsRank) {
  const mpi::World world;
  const auto probe = contamination();
  const Hogs hogs(world.root());
  Json record;
  bool seen = false;
  for (int tries = 0; tries < 30 && !seen; ++tries) {
    std::atomic<bool> has_worked = false;
    std::atomic<bool> leaves = false;
    std::jthread worker;
    record = probed(world, *probe, [&] {
      worker = std::jthread([&] {
        work_a_phase();
        has_worked = true;
        has_worked.notify_all();
        leaves.wait(false);  // a thread that has ended has no account
      });
      has_worked.wait(false);
    });
    leaves = true;
    leaves.notify_all();
    // Null where the kernel does not count it.
    const auto waited = [&record] { return record["contamination"]["run_delay_ppm"]; };
    seen = world.all().any(world.root() && (waited().is_null() || waited() >= 50'000));
  }
  EXPECT_TRUE(seen) << record.dump();
}

TEST(MpiContamination, OurOwnWorkIsNotForeign) {
  const mpi::World world;
  const auto probe = contamination();
  std::int64_t used_ns = 0;
  const std::int64_t asked_ns = now_ns();
  const Json record = probed(world, *probe, [&] {
    const std::int64_t begun_ns = now_ns();
    const std::int64_t before_ns = own_cpu_ns();
    while (now_ns() - begun_ns < phase_ns) {
    }
    used_ns = own_cpu_ns() - before_ns;
  });
  const std::int64_t whole_ns = now_ns() - asked_ns;  // more than the phase where a rank stood still
  const auto ours = static_cast<double>(world.all().sum(static_cast<std::uint64_t>(used_ns)));
  if (!world.root()) return;
  const double share = ours / (static_cast<double>(whole_ns) * static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)));
  EXPECT_LE(record["contamination"]["foreign_cpu_ppm"].get<double>() / 1e6, 1.1 - share) << record.dump();
}

TEST(MpiContamination, OneProbeServesManyPhasesAndHosts) {
  const mpi::World world("host-" + std::to_string(mpi::Comm::world().rank() % 2));
  const auto probe = contamination();
  for (int phase = 0; phase < 3; ++phase) {
    const Json record = probed(world, *probe, [] {});
    if (!world.root()) continue;
    const Json& found = record["contamination"];
    EXPECT_GE(found["cores_per_rank"].get<double>(), 1.0 / world.size());
    for (const char* key : {"steal_ppm", "involuntary_switches"}) EXPECT_GE(found[key].get<std::int64_t>(), 0) << key;
    for (const char* key : {"pressure_cpu_ppm", "pressure_io_ppm", "pressure_memory_ppm", "clock_drift_ppm"})
      EXPECT_TRUE(found[key].is_null() || found[key].get<std::int64_t>() >= 0) << key;
    EXPECT_FALSE(found["reasons"].empty()) << "an empty phase is too short for the kernel's accounts";
    EXPECT_EQ(record["grade"].get<std::string>().size(), 1U);
  }
}

TEST(MpiContamination, WhatPassesTheLoopbackDeviceIsCounted) {
  const mpi::World world;
  const auto probe = contamination();
  const Json record = probed(world, *probe, [&] {
    if (!world.root()) return;
    const Descriptor socket(::socket(AF_INET, SOCK_DGRAM, 0));
    sockaddr_in self{};
    self.sin_family = AF_INET;
    self.sin_port = htons(9);  // nobody has to receive it
    self.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::array<char, 1000> message{};
    for (int i = 0; i < 100; ++i)
      (void)sendto(socket.get(), message.data(), message.size(), 0, reinterpret_cast<const sockaddr*>(&self),
                   sizeof self);
  });
  if (!world.root()) return;
  if (!read_text("/sys/class/net/lo/statistics/tx_bytes")) GTEST_SKIP() << "no counters of the loopback device here";
  EXPECT_GE(record["contamination"]["loopback_bytes"].get<std::int64_t>(), 100'000) << record.dump();
}

}  // namespace ullage::contamination_test
