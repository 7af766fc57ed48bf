// SPDX-License-Identifier: Apache-2.0
#include "run/places.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include "run/test_support.hpp"

namespace ullage::places_test {

constexpr std::uint64_t gib = 1ULL << 30;

TargetSpace disk(std::uint64_t free_bytes) { return {free_bytes, 1000, 4096, "ext4", false, 1}; }

bool fits(const TargetSpace& space, Count bytes, const Limits& limits = {}, std::uint64_t memory = 0) {
  return check_room({"a", "posix", "/a"}, space, bytes, 10, limits, memory).has_value();
}

TEST(Places, AtMostHalfOfWhatIsFree) {
  EXPECT_TRUE(fits(disk(10 * gib), 5 * gib));
  EXPECT_FALSE(fits(disk(10 * gib), 5 * gib + 1));
}

TEST(Places, NeverTheLastGibibyte) {
  Limits all;
  all.space_fraction = 1;
  EXPECT_TRUE(fits(disk(3 * gib), 2 * gib, all));
  EXPECT_FALSE(fits(disk(3 * gib), 2 * gib + 1, all));
  EXPECT_FALSE(fits(disk(gib / 2), 1, all));
}

TEST(Places, PlansLimitCounts) {
  Limits small;
  small.space_bytes = 100;
  EXPECT_TRUE(fits(disk(10 * gib), 100, small));
  EXPECT_FALSE(fits(disk(10 * gib), 101, small));
}

TEST(Places, MemoryFileSystemIsBoundedByAvailableMemory) {
  TargetSpace memory = disk(100 * gib);
  memory.memory = true;
  EXPECT_TRUE(fits(memory, 2 * gib, {}, 4 * gib));
  EXPECT_FALSE(fits(memory, 2 * gib + 1, {}, 4 * gib));
}

TEST(Places, APartIsRoundedUpAndNeverOverflows) {
  EXPECT_EQ(part_of(3 * gib, 1, 4), 3 * gib / 4);
  EXPECT_EQ(part_of(10, 3, 4), 8U);
  EXPECT_EQ(part_of(10, 4, 4), 10U);
  EXPECT_EQ(part_of(UINT64_MAX - 1, 3, 3), UINT64_MAX - 1);
  EXPECT_FALSE(part_of(UINT64_MAX, 1, 1024).is_known()) << "nobody knows how much a part is of what is too much";
  EXPECT_EQ(part_of(0, 1, 4), 0U);
}

TEST(Places, OnFourDisksOfNodesAQuarterLiesOnEach) {
  EXPECT_FALSE(fits(disk(4 * gib), 3 * gib));
  EXPECT_TRUE(fits(disk(4 * gib), part_of(3 * gib, 1, 4)));
  EXPECT_TRUE(disk(gib).of_this_node());
  EXPECT_FALSE((TargetSpace{gib, 1000, 4096, "lustre", false, 1}.of_this_node()));
}

TEST(Places, WhatIsBeyond64BitsIsRefusedInWords) {
  Limits all;
  all.space_fraction = 1;
  all.reserve_bytes = 0;
  const TargetSpace endless{UINT64_MAX / 2, UINT64_MAX / 2, 4096, "ext4", false, 1};
  const Count beyond = Count(UINT64_MAX / 2) * 3;
  const auto bytes = check_room({"a", "posix", "/a"}, endless, beyond, 10, all, 0);
  ASSERT_FALSE(bytes.has_value());
  EXPECT_NE(bytes.error().text.find("needs more than 18.4e18 bytes but may take only"), std::string::npos);
  const auto inodes = check_room({"a", "posix", "/a"}, endless, 10, beyond, all, 0);
  ASSERT_FALSE(inodes.has_value());
  EXPECT_NE(inodes.error().text.find("needs more than 18.4e18 inodes"), std::string::npos);
}

TEST(Places, NoSmallerVolumeIsAdvisedWhereNoneFits) {
  Limits none;
  none.space_bytes = 0;
  const auto status = check_room({"a", "posix", "/a"}, disk(10 * gib), 1, 10, none, 0);
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().text.find("free some, or name another target"), std::string::npos) << status.error().text;
}

TEST(Places, InodesAndTheReasonAreNamed) {
  const auto status = check_room({"a", "posix", "/a"}, disk(10 * gib), 1, 501, {}, 0);
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().text.find("inodes"), std::string::npos);
  EXPECT_NE(status.error().where.find("/a"), std::string::npos);
}

/// A small tmpfs that this rank alone sees, in a mount namespace of its own: as a disk of each node.
class OwnDisk final : Pinned {
 public:
  OwnDisk(const std::string& path, const std::string& options)
      : before_(::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC)), directory_(std::filesystem::current_path()) {
    entered_ = before_ && unshare(CLONE_NEWNS) == 0;
    mounted_ = entered_ && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               mount("tmpfs", path.c_str(), "tmpfs", 0, options.c_str()) == 0;
  }
  ~OwnDisk() {
    if (!entered_) return;
    EXPECT_EQ(setns(before_.get(), CLONE_NEWNS), 0) << errno;
    std::filesystem::current_path(directory_);
  }
  [[nodiscard]] bool mounted() const { return mounted_; }

 private:
  Descriptor before_;
  std::filesystem::path directory_;
  bool entered_ = false;
  bool mounted_ = false;
};

/// Each rank is a node with 4 MiB of disk, of which it may take half; the last one's may be smaller.
class MpiPlacesOfNodes : public ::testing::Test {
 protected:
  MpiPlacesOfNodes() : world_("host-" + std::to_string(mpi::Comm::world().rank())), folder_(world_) {
    if (world_.root()) std::filesystem::create_directory(target());
    world_.all().barrier();
  }
  [[nodiscard]] std::string target() const { return folder_.path() + "/target"; }
  /// Collective: how the places of this plan are prepared; nothing where disks cannot be had.
  [[nodiscard]] std::optional<std::string> prepared(std::uint64_t bytes_a_rank, const std::string& last_disk) {
    const bool last = world_.rank() == world_.size() - 1;
    const OwnDisk disk(target(), last ? last_disk : "size=4m");
    if (world_.all().any(!disk.mounted())) return std::nullopt;
    Json document = test::small_plan(
        world_, folder_.path(),
        {test::small_case("00000000000000a1", "disk", "posix",
                          {{"file_mode", "per-process"}, {"transfer_bytes", 65536}, {"block_bytes", bytes_a_rank}})});
    document["limits"]["space_fraction"] = 0.5;
    const auto plan = parse_plan(json_text(document));
    EXPECT_TRUE(plan) << test::line_of(plan);
    Watchdog watchdog({});
    auto places = Places::prepare(*plan, world_, watchdog);
    if (!places) return to_line(places.error());
    const Place& place = places->at("disk");
    EXPECT_EQ(place.parts, 1) << "nobody shares this node's folder";
    EXPECT_TRUE(place.writes_manifest);
    EXPECT_TRUE(places->remove(world_, watchdog).empty());
    return "";
  }

  mpi::World world_;
  test::SharedFolder folder_;
};

TEST_F(MpiPlacesOfNodes, EachDiskHasToHoldItsOwnRanksOnly) {
  const auto said = prepared(3U << 19U, "size=4m");  // 1.5 MiB: of two nodes more than one disk may hold
  if (!said) GTEST_SKIP() << "mounting a tmpfs in a namespace of its own is not permitted here";
  EXPECT_EQ(*said, "");
}

TEST_F(MpiPlacesOfNodes, SmallestDiskDecides) {
  const auto too_much = prepared(5U << 19U, "size=4m");
  if (!too_much) GTEST_SKIP() << "mounting a tmpfs in a namespace of its own is not permitted here";
  EXPECT_NE(too_much->find("needs 2621440 bytes but may take only"), std::string::npos) << *too_much;
  const auto one_is_small = prepared(3U << 19U, "size=2m");
  ASSERT_TRUE(one_is_small);
  EXPECT_NE(one_is_small->find("needs 1572864 bytes but may take only"), std::string::npos) << *one_is_small;
}

TEST_F(MpiPlacesOfNodes, InodesAreThoseOfEachDisk) {
  const auto said = prepared(65536, "size=4m,nr_inodes=3");
  if (!said) GTEST_SKIP() << "mounting a tmpfs in a namespace of its own is not permitted here";
  EXPECT_NE(said->find("inodes"), std::string::npos) << *said;
}

TEST_F(MpiPlacesOfNodes, EachDiskHasToHoldTheWholeFolder) {
  // A file of one rank, its directory, and the folder with marker and manifest; half of what is free may be taken.
  const auto said = prepared(65536, "size=4m,nr_inodes=9");
  if (!said) GTEST_SKIP() << "mounting a tmpfs in a namespace of its own is not permitted here";
  EXPECT_NE(said->find("needs 5 inodes, has 8 free"), std::string::npos) << *said;
  EXPECT_EQ(prepared(65536, "size=4m,nr_inodes=11"), "");
}

}  // namespace ullage::places_test
