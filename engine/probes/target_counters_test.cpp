// SPDX-License-Identifier: Apache-2.0
#include "probes/target_counters.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "probes/probe.hpp"
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

constexpr std::size_t written_bytes = 1 << 20;

std::unique_ptr<Probe> moved() { return Registry<ProbeEntry>::instance().find("moved")->make(); }

void write_and_sync(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const std::string data(written_bytes, 'x');
  ASSERT_EQ(::write(file.get(), data.data(), data.size()), static_cast<ssize_t>(data.size()));
  ASSERT_EQ(::fsync(file.get()), 0);
}

Json probed_write(test::Bench& bench, Probe& probe, PhaseScope scope) {
  scope.world = &bench.world();
  Json record = Json::object();
  probe.begin(scope);
  bench.world().all().barrier();
  write_and_sync(bench.path("own." + std::to_string(bench.world().rank())));
  probe.end(scope);
  bench.world().all().barrier();
  probe.settle(scope);
  scope.requested_bytes = bench.world().all().sum(written_bytes);
  probe.report(scope, record);
  return record;
}

TEST(MpiMoved, WrittenBytesReachTheCounters) {
  test::Bench bench;
  const auto probe = moved();
  PhaseScope scope;
  scope.folder = &bench.folder();
  scope.writes = true;
  const Json record = probed_write(bench, *probe, scope);
  if (!bench.world().root()) return;
  const Json& found = record["moved"];
  const auto requested = found["requested_bytes"].get<std::uint64_t>();
  EXPECT_EQ(requested, written_bytes * static_cast<unsigned>(bench.world().size()));
  EXPECT_TRUE(found["client_bytes"].is_null());
  const auto counters = TargetCounters::of_folder(bench.folder().path());
  ASSERT_EQ(found["device_bytes"].is_null(), !counters.device().has_value());
  if (found["device_bytes"].is_null()) {
    EXPECT_FALSE(found["reasons"].empty());
    return;
  }
  EXPECT_GE(found["device_bytes"].get<std::uint64_t>(), requested);
  EXPECT_GE(found["process_bytes"].get<std::uint64_t>(), requested);
}

TEST(MpiMoved, WithoutStorageThereIsNoDevice) {
  test::Bench bench;
  const auto probe = moved();
  PhaseScope scope;
  scope.reads = true;
  const Json record = probed_write(bench, *probe, scope);
  if (!bench.world().root()) return;
  EXPECT_TRUE(record["moved"]["device_bytes"].is_null());
  EXPECT_FALSE(record["moved"]["reasons"].empty());
}

TEST(MpiMoved, PhasesThatMoveNothingHaveNoAccount) {
  test::Bench bench;
  const auto probe = moved();
  const Json record = probed_write(bench, *probe, {});
  EXPECT_TRUE(record["moved"].is_null());
}

}  // namespace

}  // namespace ullage::target_counters_test
