// SPDX-License-Identifier: Apache-2.0
#include "probes/target_counters.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "storage/test_support.hpp"

namespace ullage::target_counters_test {
namespace {

TEST(TargetCounters, LustreNames) {
  EXPECT_EQ(lustre_name("10.0.0.1@o2ib:10.0.0.2@o2ib:/scratch"), "scratch");
  EXPECT_EQ(lustre_name("mgs@tcp:/scratch/sub/dir"), "scratch");
  EXPECT_EQ(lustre_name("/dev/sda"), "");
  EXPECT_EQ(lustre_name(""), "");
}

TEST(TargetCounters, DeviceOrTheReasonWhyNot) {
  const test::TempFolder folder;
  const auto counters = TargetCounters::of_folder(folder.path());
  EXPECT_EQ(counters.device().has_value(), counters.device_reason().empty()) << counters.device_reason();
}

TEST(TargetCounters, MemoryAndMissingFoldersHaveNoDevice) {
  for (const char* path : {"/proc", "/no/such/folder"}) {
    const auto counters = TargetCounters::of_folder(path);
    EXPECT_FALSE(counters.device());
    EXPECT_FALSE(counters.client());
    EXPECT_FALSE(counters.device_reason().empty());
  }
}

constexpr std::string_view mountstats =
    "device rootfs mounted on / with fstype rootfs\n"
    "device server:/export/a mounted on /mnt/a\\040b with fstype nfs4 statvers=1.1\n"
    "\topts:\trw,vers=4.2\n"
    "\tage:\t100\n"
    "\tbytes:\t1 2 3 4 4096 8192 7 8\n"
    "\tper-op statistics\n"
    "device server:/export/b mounted on /mnt/a with fstype nfs statvers=1.1\n"
    "\tbytes:\t0 0 0 0 11 12 0 0\n"
    "device tmpfs mounted on /tmp with fstype tmpfs\n";

TEST(Traffic, BlockStatCountsSectorsOf512Bytes) {
  const auto traffic = parse_block_stat("   10 2 80 4 20 6 160 8 0 10 11 0 0 0 0 0 0\n");
  ASSERT_TRUE(traffic);
  EXPECT_EQ(traffic->read_bytes, 80U * 512);
  EXPECT_EQ(traffic->written_bytes, 160U * 512);
  for (const char* text : {"", "1 2 3", "1 2 x 4 5 6 7", "1 2 3 4 5 6 -7"})
    EXPECT_FALSE(parse_block_stat(text)) << text;
}

TEST(Traffic, NfsBytesOfOneMount) {
  const auto spaced = parse_nfs_traffic(mountstats, "/mnt/a b");
  ASSERT_TRUE(spaced);
  EXPECT_EQ(spaced->read_bytes, 4096U);
  EXPECT_EQ(spaced->written_bytes, 8192U);
  const auto other = parse_nfs_traffic(mountstats, "/mnt/a");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->read_bytes, 11U);
  EXPECT_FALSE(parse_nfs_traffic(mountstats, "/tmp"));
  EXPECT_FALSE(parse_nfs_traffic(mountstats, "/mnt"));
  EXPECT_FALSE(parse_nfs_traffic("device s:/x mounted on /m with fstype nfs\nbytes: 1 2 3\n", "/m"));
}

TEST(Traffic, LustreBulkBytes) {
  const auto traffic = parse_lustre_traffic(
      "snapshot_time             1700000000.1 secs.nsecs\n"
      "req_waittime              7 samples [usecs] 1 2 3 4\n"
      "read_bytes                3 samples [bytes] 4096 1048576 2101248\n"
      "write_bytes               2 samples [bytes] 4096 4096 8192 33554432\n");
  ASSERT_TRUE(traffic);
  EXPECT_EQ(traffic->read_bytes, 2101248U);
  EXPECT_EQ(traffic->written_bytes, 8192U);
  const auto idle = parse_lustre_traffic("snapshot_time 1 secs\n");
  ASSERT_TRUE(idle);
  EXPECT_EQ(idle->read_bytes, 0U);
  EXPECT_FALSE(parse_lustre_traffic("read_bytes 3 samples [bytes] 1 2 3\n"));
  EXPECT_FALSE(parse_lustre_traffic("snapshot_time 1\nread_bytes 3 samples [bytes]\n"));
}

TEST(Traffic, GarbageNeverThrows) {
  EXPECT_TRUE(rc::check([](const std::string& garbage) {
    (void)parse_block_stat(garbage);
    (void)parse_nfs_traffic("device " + garbage + "\nbytes: " + garbage, garbage);
    (void)parse_lustre_traffic("snapshot_time\nread_bytes " + garbage);
  }));
}

}  // namespace
}  // namespace ullage::target_counters_test
