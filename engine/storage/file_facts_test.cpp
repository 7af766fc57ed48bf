// SPDX-License-Identifier: Apache-2.0
#include "storage/file_facts.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>

#include "storage/test_support.hpp"

namespace ullage::file_facts_test {

namespace fs = std::filesystem;
using test::line_of;

constexpr off_t mebibyte = 1 << 20;

class FileFacts : public testing::Test {
 protected:
  FileFacts() : folder_(std::move(*RunFolder::make(target_.path(), "r1"))) {}
  [[nodiscard]] Descriptor create(const std::string& name) const {
    auto file = folder_.open_file(name, O_RDWR | O_CREAT | O_EXCL);
    EXPECT_TRUE(file) << line_of(file);
    return std::move(*file);
  }
  static void write_at(const Descriptor& file, off_t offset, std::size_t length) {
    const std::string data(length, 'x');
    ASSERT_EQ(pwrite(file.get(), data.data(), length, offset), static_cast<ssize_t>(length));
  }
  [[nodiscard]] bool fully_written(const std::string& name) const {
    const auto extents = inspect_file(folder_, name);
    EXPECT_TRUE(extents) << line_of(extents);
    return extents && extents->fully_written;
  }
  test::TempFolder target_;
  RunFolder folder_;
};

TEST_F(FileFacts, AWholeFileIsFullyWritten) {
  const Descriptor file = create("f");
  EXPECT_TRUE(fully_written("f")) << "nothing is missing in nothing";
  write_at(file, 0, 300'000);
  EXPECT_TRUE(fully_written("f")) << "before it is written back";
  ASSERT_EQ(fdatasync(file.get()), 0);
  EXPECT_TRUE(fully_written("f"));
  EXPECT_EQ(inspect_file(folder_, "f")->size_bytes, 300'000U);
}

TEST_F(FileFacts, HolesAreSeenWhereverTheyAre) {
  const Descriptor before = create("before");
  write_at(before, mebibyte, 4096);
  EXPECT_FALSE(fully_written("before"));
  const Descriptor inside = create("inside");
  write_at(inside, 0, 65536);
  write_at(inside, mebibyte, 65536);
  EXPECT_FALSE(fully_written("inside"));
  const Descriptor behind = create("behind");
  write_at(behind, 0, 65536);
  ASSERT_EQ(ftruncate(behind.get(), mebibyte), 0);
  EXPECT_FALSE(fully_written("behind"));
}

TEST_F(FileFacts, AllocatedIsNotWritten) {
  const auto file_system = target_space(target_.path())->file_system;
  if (file_system != "ext4" && file_system != "xfs") GTEST_SKIP() << file_system << " may write what it allocates";
  const Descriptor file = create("f");
  ASSERT_TRUE(allocate_file(file.get(), mebibyte, "f"));
  EXPECT_FALSE(fully_written("f"));
  write_at(file, 0, mebibyte / 2);
  EXPECT_FALSE(fully_written("f"));
  write_at(file, mebibyte / 2, mebibyte / 2);
  EXPECT_TRUE(fully_written("f")) << "in the page cache over unwritten extents";
}

TEST_F(FileFacts, ManyExtentsAreAllLookedAt) {
  const Descriptor file = create("f");
  constexpr off_t pieces = 300;  // more than one call to the kernel answers
  for (off_t i = 0; i < pieces; ++i) write_at(file, i * 8192, 4096);
  ASSERT_EQ(fdatasync(file.get()), 0);
  EXPECT_FALSE(fully_written("f"));
  for (off_t i = 0; i < pieces; ++i) write_at(file, i * 8192 + 4096, 4096);
  EXPECT_TRUE(fully_written("f"));
}

TEST_F(FileFacts, MissingFilesAndLinksAreErrors) {
  EXPECT_EQ(inspect_file(folder_, "none").error().errno_value, ENOENT);
  EXPECT_EQ(drop_cached_file(folder_, "none").error().errno_value, ENOENT);
  fs::create_symlink("/etc/hostname", folder_.path() + "/link");
  EXPECT_EQ(inspect_file(folder_, "link").error().errno_value, ELOOP);
  EXPECT_EQ(drop_cached_file(folder_, "link").error().errno_value, ELOOP);
}

std::size_t resident_pages(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto size = static_cast<std::size_t>(fs::file_size(path));
  void* mapped = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  std::vector<unsigned char> pages((size + 4095) / 4096);
  mincore(mapped, size, pages.data());
  munmap(mapped, size);
  return static_cast<std::size_t>(std::ranges::count_if(pages, [](unsigned char p) { return (p & 1U) != 0; }));
}

TEST_F(FileFacts, DroppingLeavesNothingInThePageCache) {
  if (target_space(target_.path())->memory) GTEST_SKIP() << "a memory file system is its own page cache";
  const Descriptor file = create("f");
  write_at(file, 0, mebibyte);  // dirty: it has to be written back first
  EXPECT_GT(resident_pages(folder_.path() + "/f"), 0U);
  ASSERT_TRUE(drop_cached_file(folder_, "f"));
  EXPECT_EQ(resident_pages(folder_.path() + "/f"), 0U);
}

TEST_F(FileFacts, AlignmentForDirectAccess) {
  const auto alignment = direct_alignment_bytes(folder_);
  if (!alignment) GTEST_SKIP() << line_of(alignment);
  EXPECT_TRUE(std::has_single_bit(*alignment));
  EXPECT_GE(*alignment, 512U);
}

TEST_F(FileFacts, AMemoryFileSystemIsNoPersistentMemory) {
  if (!target_space(target_.path())->memory && access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "no tmpfs to look at";
  const test::TempFolder memory("/dev/shm");
  const auto folder = RunFolder::make(memory.path(), "r1");
  ASSERT_TRUE(folder) << line_of(folder);
  EXPECT_FALSE(is_dax(*folder));
}

TEST_F(FileFacts, AllocationThatFailsIsGivenBack) {
  const test::SmallFileSystem small("size=1m");
  if (!small.mounted()) GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  const Descriptor file(::open((small.path() + "/f").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const auto status = allocate_file(file.get(), 10 * mebibyte, "f");
  ASSERT_FALSE(status);
  EXPECT_EQ(line_of(status), "preallocate f: No space left on device (errno 28)");
  EXPECT_EQ(fs::file_size(small.path() + "/f"), 0U);
  EXPECT_GT(target_space(small.path())->free_bytes, 900'000U);
}

}  // namespace ullage::file_facts_test
