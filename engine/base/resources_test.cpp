// SPDX-License-Identifier: Apache-2.0
#include "base/resources.hpp"
#include "base/pinned.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "base/aligned_buffer.hpp"

namespace ullage {
namespace {

class Machine final : Pinned {
 public:
  Machine() : root_(std::filesystem::temp_directory_path() / ("ullage-resources-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(root_);
  }
  ~Machine() { std::filesystem::remove_all(root_); }

  Machine& file(const std::string& name, const std::string& content) {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << content;
    return *this;
  }
  [[nodiscard]] std::string root() const { return root_.string(); }

 private:
  std::filesystem::path root_;
};

constexpr const char* unified = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
constexpr const char* meminfo = "MemTotal:  2000 kB\nMemFree: 10 kB\nMemAvailable:  1000 kB\n";

TEST(Resources, MemoryThatIsNotThereIsAnError) {
  const Status refused = catch_resource_errors([]() -> Status {
    const AlignedBuffer buffer(std::size_t{1} << 49);
    return buffer.size() > 0 ? Status{} : fail(bad_plan("", "no buffer"));
  });
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(to_line(refused.error()), "get memory: Cannot allocate memory (errno 12)");
}

TEST(Resources, SizesBeyondAllMemoryAndThreadsThatDoNotStartAreErrors) {
  const auto too_long = catch_resource_errors([]() -> Status {
    return std::vector<int>(std::numeric_limits<std::size_t>::max()).empty() ? Status{} : Status{};
  });
  EXPECT_FALSE(too_long.has_value());
  const auto no_thread = catch_resource_errors([]() -> Result<int> {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  });
  ASSERT_FALSE(no_thread.has_value());
  EXPECT_EQ(no_thread.error().errno_value, EAGAIN);
  EXPECT_EQ(catch_resource_errors([]() -> Result<int> { return 7; }).value(), 7);
}

TEST(Resources, MoreThanThereIsMayNotBeTaken) {
  EXPECT_TRUE(is_memory_available(1));
  EXPECT_FALSE(is_memory_available(std::uint64_t{1} << 50));
}

TEST(Resources, WithoutGroupsTheMachineCounts) {
  Machine machine;
  machine.file("proc/meminfo", meminfo);
  EXPECT_EQ(memory_left_bytes(machine.root()), 1000 * 1024U);
  EXPECT_EQ(memory_left_bytes(machine.root() + "/nothing"), std::nullopt);
}

TEST(Resources, EveryGroupAboveLimitsAndCleanPagesCountAsLeft) {
  Machine machine;
  machine.file("proc/meminfo", meminfo).file("proc/self/cgroup", "0::/a/b\n").file("proc/self/mountinfo", unified);
  machine.file("sys/fs/cgroup/a/b/memory.max", "max\n").file("sys/fs/cgroup/a/b/memory.current", "5\n");
  machine.file("sys/fs/cgroup/a/memory.max", "4096\n").file("sys/fs/cgroup/a/memory.current", "3000\n");
  machine.file("sys/fs/cgroup/a/memory.stat", "anon 1000\ninactive_file 2000\n");
  EXPECT_EQ(memory_left_bytes(machine.root()), 3096U);
}

TEST(Resources, VersionOneLimitsToo) {
  Machine machine;
  machine.file("proc/meminfo", meminfo).file("proc/self/cgroup", "4:cpu,memory:/job\n1:name=systemd:/x\n");
  machine.file("proc/self/mountinfo", "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  machine.file("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9000\n");
  machine.file("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "10000\n");
  machine.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  machine.file("sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n");
  EXPECT_EQ(memory_left_bytes(machine.root()), 0U);
}

/// Bytes left in a group that may take `most`, has taken `taken`, and could give up some of that.
std::optional<std::uint64_t> left_of(const std::string& most, const std::string& taken, const std::string& stat) {
  Machine machine;
  machine.file("proc/self/cgroup", "0::/\n").file("proc/self/mountinfo", unified);
  machine.file("sys/fs/cgroup/memory.max", most).file("sys/fs/cgroup/memory.current", taken);
  return memory_left_bytes(machine.file("sys/fs/cgroup/memory.stat", stat).root());
}

TEST(Resources, AGroupHasItsLimitLessWhatIsHeldAndCannotBeReclaimed) {
  EXPECT_EQ(left_of("1000", "400", "anon 100\ninactive_file 150\n"), 750U);
  EXPECT_EQ(left_of("1000", "400", ""), 600U);
  EXPECT_EQ(left_of("1000", "2000", ""), 0U);
  EXPECT_EQ(left_of("1000", "100", "inactive_file 150\n"), 1000U);
}

TEST(Resources, AGroupWithoutALimitHasNone) {
  EXPECT_FALSE(left_of("max", "400", ""));
  EXPECT_FALSE(left_of("1000", "", ""));
}

TEST(Resources, MoreThanThereIsIsRefusedWithBothNumbers) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20U;
  EXPECT_TRUE(check_room("set", 99 * mib, 100 * mib));
  const Status status = check_room("set", 100 * mib, 100 * mib);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::environment);
  EXPECT_NE(to_line(status.error()).find("needs 100 MiB on this node, which has 100 MiB left"), std::string::npos);
  EXPECT_TRUE(check_room("set", std::uint64_t{1} << 60U, std::nullopt));  // a system that does not say
}

TEST(Resources, MemoryOfThisMachineIsLessThanAPebibyte) {
  const auto room = memory_left_bytes();
  ASSERT_TRUE(room);
  EXPECT_GT(*room, 0U);
  EXPECT_FALSE(check_room("set", std::uint64_t{1} << 50U));
}

}  // namespace
}  // namespace ullage
