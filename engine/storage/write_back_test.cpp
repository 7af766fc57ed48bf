// SPDX-License-Identifier: Apache-2.0
#include "storage/write_back.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "storage/test_support.hpp"

namespace ullage::write_back_test {

TEST(WriteBack, StepsOfADeviceAreItsWritesAndWhatTheyMoved) {
  const std::string before = " 8144065    63839 492271896  3457339  1024   709148 40960  2240891        0   578792\n";
  EXPECT_EQ(steps_of_device(before), 1024U / 256 + 40960U / 4096);
  EXPECT_EQ(steps_of_device("1 1 1 1 255 0 4095"), 0U) << "a log that grows is no sign";
  EXPECT_EQ(steps_of_device("1 1 1 1 256 0 4096"), 2U);
  for (const char* damaged : {"", "1 2 3", "1 1 1 1 x 0 1", "-1 1 1 1 1 1 1"})
    EXPECT_EQ(steps_of_device(damaged), std::nullopt) << damaged;
}

TEST(WriteBack, PagesOfTheNodeAreThoseNotConfirmed) {
  const auto pages =
      parse_node_pages("nr_dirty 10\nnr_writeback 7\nnr_dirty_threshold 999\nnr_written 1234\nnr_unstable 3\n");
  ASSERT_TRUE(pages);
  EXPECT_EQ(pages->pending, 20U);
  EXPECT_EQ(pages->written, 1234U);
  EXPECT_FALSE(parse_node_pages("nr_dirty 10\n")) << "a kernel that does not count";
  EXPECT_FALSE(parse_node_pages(""));
}

TEST(WriteBack, MemoryAndUnknownFileSystemsSayNothing) {
  for (const char* name : {"tmpfs", "zfs", "gpfs", "0x1234", ""}) {
    TargetSpace space;
    space.file_system = name;
    EXPECT_EQ(make_write_back(space), nullptr) << name;
  }
}

TEST(WriteBack, DevicesOfThisNodeHaveNothingLeftToConfirm) {
  TargetSpace space;
  space.file_system = "btrfs";
  const auto hidden = make_write_back(space);
  if (hidden == nullptr) GTEST_SKIP() << "no /proc/vmstat here";
  EXPECT_EQ(hidden->pending_bytes(), 0U);
  space.file_system = "fuse.sshfs";
  EXPECT_NE(make_write_back(space), nullptr);
}

TEST(WriteBack, FlushOfAFileIsSeen) {
  const test::TempFolder folder;
  const auto space = target_space(folder.path());
  ASSERT_TRUE(space);
  const auto write_back = make_write_back(*space);
  if (write_back == nullptr) GTEST_SKIP() << "nobody counts what is written back to " << space->file_system;
  const std::uint64_t before = write_back->steps();
  test::write_file(folder.path() + "/dirty", std::string(16U << 20U, 'x'));
  const Descriptor file(::open((folder.path() + "/dirty").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(sync_descriptor(file.get()));
  std::uint64_t after = before;  // nodes add their counts up once a second
  for (int i = 0; i < 100 && after == before; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    after = write_back->steps();
  }
  EXPECT_GT(after, before);
}

}  // namespace ullage::write_back_test
