// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/numa_path.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace ullage::numa_path_test {

const CpusOfNodes two_nodes{{0, {0, 1}}, {1, {2, 3}}};
const CpusOfNodes three_nodes{{0, {0}}, {2, {4, 5}}, {3, {6, 7}}};

std::vector<int> core(NumaPath path, const CpusOfNodes& nodes, std::optional<int> device, int rank) {
  const auto found = choose_on_path(path, nodes, device, rank);
  return found ? choose_cpus(found->cpus, found->index, 1) : std::vector<int>{};
}

std::string refusal(NumaPath path, const CpusOfNodes& nodes, std::optional<int> device) {
  const auto found = choose_on_path(path, nodes, device, 0);
  return found ? "" : found.error().text;
}

TEST(NumaPath, LocalRanksTakeTheCoresOfTheDevicesNodeInTurn) {
  EXPECT_EQ(core(NumaPath::local, two_nodes, 1, 0), std::vector{2});
  EXPECT_EQ(core(NumaPath::local, two_nodes, 1, 1), std::vector{3});
  EXPECT_EQ(core(NumaPath::local, two_nodes, 1, 2), std::vector{2});
}

TEST(NumaPath, RemoteRanksTakeTheOtherNodesInTurn) {
  EXPECT_EQ(core(NumaPath::remote, three_nodes, 0, 0), std::vector{4});
  EXPECT_EQ(core(NumaPath::remote, three_nodes, 0, 1), std::vector{6});
  EXPECT_EQ(core(NumaPath::remote, three_nodes, 0, 2), std::vector{5});
}

TEST(NumaPath, InterleavedRanksTakeAllNodesInTurnWhereverTheDeviceIs) {
  EXPECT_EQ(core(NumaPath::interleave, two_nodes, std::nullopt, 0), std::vector{0});
  EXPECT_EQ(core(NumaPath::interleave, two_nodes, std::nullopt, 1), std::vector{2});
  EXPECT_EQ(core(NumaPath::interleave, two_nodes, std::nullopt, 2), std::vector{1});
}

TEST(NumaPath, AsIsKeepsAllCpus) {
  const auto found = choose_on_path(NumaPath::as_is, two_nodes, 0, 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cpus, (std::vector{0, 1, 2, 3}));
}

TEST(NumaPath, WhatCannotBeHadIsSaid) {
  const CpusOfNodes one{{0, {0, 1}}};
  EXPECT_NE(refusal(NumaPath::remote, one, 0).find("not available: one NUMA node"), std::string::npos);
  EXPECT_NE(refusal(NumaPath::interleave, one, 0).find("not available: one NUMA node"), std::string::npos);
  EXPECT_NE(refusal(NumaPath::local, two_nodes, std::nullopt).find("the kernel states no NUMA node"),
            std::string::npos);
  EXPECT_NE(refusal(NumaPath::local, one, 3).find("may use no CPU of NUMA node 3"), std::string::npos);
  EXPECT_EQ(refusal(NumaPath::local, one, 0), "");
}

/// A sysfs with a namespace of persistent memory on node 1, and a device of which no node is stated.
class FakeSysfs : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(device("region0/namespace0.0/block/pmem0"));
    std::filesystem::create_directories(root_ / "dev/block");
    std::ofstream(device("region0/numa_node")) << "0\n";
    std::ofstream(device("region0/namespace0.0/numa_node")) << "1\n";
    std::filesystem::create_directory_symlink(device("region0/namespace0.0/block/pmem0"), root_ / "dev/block/259:0");
    std::filesystem::create_directories(device("virtual/block/loop0"));
    std::ofstream(device("virtual/numa_node")) << "-1\n";
    std::filesystem::create_directory_symlink(device("virtual/block/loop0"), root_ / "dev/block/7:0");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  [[nodiscard]] std::filesystem::path device(const std::string& name) const { return root_ / "devices" / name; }
  std::filesystem::path root_ = std::filesystem::temp_directory_path() / ("ullage-sysfs-" + std::to_string(getpid()));
};

TEST_F(FakeSysfs, TheNearestStatementCounts) { EXPECT_EQ(node_of_device(makedev(259, 0), root_), 1); }

TEST_F(FakeSysfs, MinusOneAndMissingDevicesHaveNoNode) {
  EXPECT_EQ(node_of_device(makedev(7, 0), root_), std::nullopt);
  EXPECT_EQ(node_of_device(makedev(8, 0), root_), std::nullopt);
}

TEST(NumaPath, AThreadStaysUntilItsEndAndRunsWhereItDidAfterwards) {
  std::thread([] {
    const auto before = own_cpus();
    {
      const auto stay = StayOnCpus::on({before.back()});
      ASSERT_TRUE(stay);
      EXPECT_EQ(own_cpus(), std::vector{before.back()});
      EXPECT_EQ(spot_now().cpu, before.back());
    }
    EXPECT_EQ(own_cpus(), before);
    EXPECT_FALSE(StayOnCpus::on({100'000}));
    EXPECT_EQ(own_cpus(), before);
  }).join();
}

TEST(NumaPath, ThisMachineHasItsCpusOnItsNodes) {
  std::size_t count = 0;
  for (const auto& [node, cpus] : usable_cpus_of_nodes()) count += cpus.size();
  EXPECT_EQ(count, own_cpus().size());
}

TEST(NumaPath, MemoryFromANodeThatIsNotThereIsAnError) {
  EXPECT_FALSE(MemoryFrom(1023).status());
  EXPECT_TRUE(MemoryFrom(-1).status());
  EXPECT_TRUE(MemoryFrom(memory_nodes().front()).status());
}

TEST(NumaPath, MemoryComesFromWhereItCameBefore) {
  if (memory_nodes().size() < 2) GTEST_SKIP() << "one node has all memory";
  const auto policy = [] {
    int now = 0;
    EXPECT_EQ(syscall(SYS_get_mempolicy, &now, nullptr, 0UL, nullptr, 0UL), 0);
    return now;
  };
  std::thread([&] {
    constexpr int interleave = 3;
    const unsigned long first_two = (1UL << memory_nodes()[0]) | (1UL << memory_nodes()[1]);
    ASSERT_EQ(syscall(SYS_set_mempolicy, interleave, &first_two, 64UL), 0);
    {
      const MemoryFrom one(memory_nodes().front());
      EXPECT_NE(policy(), interleave);
    }
    EXPECT_EQ(policy(), interleave);
  }).join();
}

TEST(NumaPath, TouchedPagesAreFoundOnANode) {
  std::vector<std::byte> memory(std::size_t{1} << 20, std::byte{1});
  std::uint64_t pages = 0;
  const auto found = pages_on_nodes(memory);
  if (found.empty()) GTEST_SKIP() << "this system has no move_pages";
  for (const auto& [node, count] : found) {
    EXPECT_TRUE(std::ranges::count(memory_nodes(), node));
    pages += count;
  }
  EXPECT_GT(pages, 200U);
}

}  // namespace ullage::numa_path_test
