// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/cgroup.hpp"

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

constexpr std::string_view mountinfo =
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
    "25 24 0:23 / /dev/shm rw,relatime shared:4 master:1 - tmpfs tmpfs rw,size=24684092k\n"
    "30 27 0:40 /home /home rw - btrfs /dev/nvme0n1p2 rw,subvol=/home\n"
    "31 27 0:41 / /mnt/a\\040b rw - nfs4 server:/export rw,vers=4.2\n"
    "32 27 0:42 / /mnt rw - tmpfs first rw\n"
    "33 27 0:43 / /mnt rw - tmpfs second rw\n"
    "garbage\n"
    "34 27 0:44 / /x rw\n"
    "35 27 0:45 / /y rw - ext4\n";

TEST(Mounts, LinesBecomeMounts) {
  const auto mounts = parse_mounts(mountinfo);
  ASSERT_EQ(mounts.size(), 6U);
  EXPECT_EQ(mounts[0].device, "254:0");
  EXPECT_EQ(mounts[0].source, "/dev/vda");
  EXPECT_EQ(mounts[1].file_system, "tmpfs");
  EXPECT_EQ(mounts[1].super_options, (std::vector<std::string>{"rw", "size=24684092k"}));
  EXPECT_EQ(mounts[2].root, "/home");
  EXPECT_EQ(mounts[3].mount_point, "/mnt/a b");
}

TEST(Mounts, LongestPrefixAndTheLastMounted) {
  const auto mounts = parse_mounts(mountinfo);
  EXPECT_EQ(mount_of(mounts, "/")->mount_point, "/");
  EXPECT_EQ(mount_of(mounts, "/homes/a")->mount_point, "/");
  EXPECT_EQ(mount_of(mounts, "/home")->file_system, "btrfs");
  EXPECT_EQ(mount_of(mounts, "/home/a/b")->file_system, "btrfs");
  EXPECT_EQ(mount_of(mounts, "/mnt/a b/c")->file_system, "nfs4");
  EXPECT_EQ(mount_of(mounts, "/mnt/a")->source, "second");
  EXPECT_FALSE(mount_of(mounts, "relative"));
  EXPECT_FALSE(mount_of({}, "/"));
}

TEST(Mounts, WithoutABlockDeviceThereIsAReason) {
  const auto mounts = parse_mounts(mountinfo);
  for (const char* path : {"/dev/shm", "/mnt/a b"}) {
    const BlockCounters counters = block_counters(*mount_of(mounts, path));
    EXPECT_TRUE(counters.stat_files.empty());
    EXPECT_FALSE(counters.reason.empty());
  }
  Mount gone;
  gone.device = "4095:7";
  EXPECT_TRUE(block_counters(gone).stat_files.empty());
  EXPECT_NE(block_counters(gone).reason.find("4095:7"), std::string::npos);
}

TEST(Mounts, GarbageNeverThrows) {
  EXPECT_TRUE(rc::check([](const std::string& garbage) {
    (void)parse_mounts(garbage);
    (void)parse_mounts("1 2 3 4 5 6 - " + garbage);
    (void)mount_of(parse_mounts("1 2 0:1 / / rw - a " + garbage), garbage);
  }));
}

}  // namespace

}  // namespace ullage::cgroup_test
