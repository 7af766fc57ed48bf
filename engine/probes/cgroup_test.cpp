// SPDX-License-Identifier: Apache-2.0
#include "probes/cgroup.hpp"

#include <gtest/gtest.h>

namespace ullage::cgroup_test {
namespace {

using Names = std::vector<std::string>;

constexpr std::string_view v1_mounts =
    "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n";
constexpr std::string_view v2_mounts = "32 31 0:29 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n";

TEST(Cgroup, CpuMax) {
  EXPECT_EQ(parse_cpu_max("150000 100000\n"), 1.5);
  EXPECT_EQ(parse_cpu_max("50000 100000"), 0.5);
  for (const char* text : {"max 100000", "-1 100000", "0 100000", "100000", "100000 0", "", "a b"})
    EXPECT_FALSE(parse_cpu_max(text)) << text;
}

TEST(Cgroup, VersionTwoFromTheGroupUpToTheRoot) {
  const auto mounts = parse_mounts(v2_mounts);
  EXPECT_EQ(cgroup_directories("0::/slurm/job_1/step_0\n", mounts, "cpu"),
            (Names{"/sys/fs/cgroup/slurm/job_1/step_0", "/sys/fs/cgroup/slurm/job_1", "/sys/fs/cgroup/slurm",
                   "/sys/fs/cgroup"}));
  EXPECT_EQ(cgroup_directories("0::/\n", mounts, "cpu"), (Names{"/sys/fs/cgroup"}));
}

TEST(Cgroup, VersionOneByController) {
  const auto mounts = parse_mounts(v1_mounts);
  constexpr std::string_view membership = "4:cpu,cpuacct:/a\n3:cpuset:/b\n0::/c\n";
  EXPECT_EQ(cgroup_directories(membership, mounts, "cpu"), (Names{"/sys/fs/cgroup/cpu/a", "/sys/fs/cgroup/cpu"}));
  EXPECT_EQ(cgroup_directories(membership, mounts, "cpuset"),
            (Names{"/sys/fs/cgroup/cpuset/b", "/sys/fs/cgroup/cpuset"}));
  EXPECT_TRUE(cgroup_directories(membership, mounts, "memory").empty());
}

TEST(Cgroup, MountOfAPartOfTheTree) {
  const auto mounts = parse_mounts("32 31 0:29 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
  EXPECT_EQ(cgroup_directories("0::/docker/1/x\n", mounts, "cpu"), (Names{"/sys/fs/cgroup/x", "/sys/fs/cgroup"}));
}

TEST(Cgroup, BrokenMembershipIsNone) {
  const auto mounts = parse_mounts(v2_mounts);
  for (const char* text : {"", "0:", "0::", "0::relative", "garbage"})
    EXPECT_TRUE(cgroup_directories(text, mounts, "cpu").empty()) << text;
}

}  // namespace
}  // namespace ullage::cgroup_test
