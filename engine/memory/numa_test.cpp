// SPDX-License-Identifier: Apache-2.0
#include "memory/numa.hpp"

#include <gtest/gtest.h>

#include "memory/pages.hpp"
#include "memory/test_support.hpp"
#include "storage/test_support.hpp"

namespace ullage::numa_test {

/// Two nodes with CPUs, a third with memory alone.
class Numa : public ::testing::Test {
 protected:
  Numa() {
    for (const char* node : {"/node0", "/node1", "/node2"}) std::filesystem::create_directory(folder() + node);
    test::write_text(folder() + "/has_memory", "0-2\n");
    test::write_text(folder() + "/has_cpu", "0-1\n");
    test::write_text(folder() + "/node0/cpulist", "0-3\n");
    test::write_text(folder() + "/node1/cpulist", "4-7\n");
  }
  [[nodiscard]] const std::string& folder() const { return folder_.path(); }

 private:
  test::TempFolder folder_;
};

TEST_F(Numa, NodesWithMemoryAreThoseListed) {
  EXPECT_EQ(memory_nodes(folder()), (std::vector{0, 1, 2}));
  EXPECT_EQ(memory_nodes(folder() + "/none"), std::vector{0});
}

TEST_F(Numa, CpusAreThoseOfTheNodeThatAreAllowed) {
  const std::vector<int> allowed{1, 3, 4, 6, 9};
  EXPECT_EQ(cpus_of_node(0, allowed, folder()).value(), (std::vector{1, 3}));
  EXPECT_EQ(cpus_of_node(1, allowed, folder()).value(), (std::vector{4, 6}));
}

TEST_F(Numa, NodeWithoutCpusOrWithoutAllowedOnesIsRefused) {
  const std::vector<int> allowed{4, 5};
  EXPECT_NE(to_line(cpus_of_node(2, allowed, folder()).error()).find("nodes with CPUs: 0, 1"), std::string::npos);
  EXPECT_NE(to_line(cpus_of_node(0, allowed, folder()).error()).find("none of its CPUs"), std::string::npos);
}

TEST_F(Numa, MachineThatListsNoNodesHasOne) {
  const std::vector<int> allowed{1, 3};
  EXPECT_EQ(cpus_of_node(0, allowed, folder() + "/none").value(), allowed);
  EXPECT_FALSE(cpus_of_node(1, allowed, folder() + "/none"));
}

TEST_F(Numa, MemoryIsBoundToNodesThereAreAndNoOthers) {
  const auto region = Region::map(1, Pages::small);
  ASSERT_TRUE(region);
  const int here = memory_nodes().front();
  const Status bound = bind_to_node(region->bytes(), here);
  EXPECT_TRUE(bound || to_line(bound.error()).find("mbind") != std::string::npos);  // some containers forbid it
  const Status refused = bind_to_node(region->bytes(), 1000);
  ASSERT_FALSE(refused);
  EXPECT_NE(to_line(refused.error()).find("no such node"), std::string::npos);
}

/// Pages that nobody has touched are nowhere.
TEST_F(Numa, PagesAreCountedWhereTheyAre) {
  const auto region = Region::map(std::uint64_t{16} << 20, Pages::small);
  ASSERT_TRUE(region);
  EXPECT_TRUE(pages_on_nodes(region->bytes()).empty());
  ASSERT_TRUE(region->touch(region->bytes()));
  std::uint64_t pages = 0;
  const std::vector<int> there = memory_nodes();
  for (const auto& [node, count] : pages_on_nodes(region->bytes())) {
    EXPECT_TRUE(std::ranges::find(there, node) != there.end()) << node;
    pages += count;
  }
  // 1024 are asked at most; some containers forbid to ask.
  const std::uint64_t all = (std::uint64_t{16} << 20) / static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  EXPECT_TRUE(pages == std::min<std::uint64_t>(all, 1024) || pages == 0) << pages;
}

}  // namespace ullage::numa_test
