// SPDX-License-Identifier: Apache-2.0
// What backends over mapped files have in common; how each of them stores is tested beside it.
#include "storage/mapped_file.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::mapped_file_test {

/// Stores fail at the third transfer, and say so by errno.
class FailingFile final : public MappedFile {
 public:
  explicit FailingFile(MappedFileParts parts) : MappedFile(std::move(parts)) {}
  [[nodiscard]] Status sync() override { return {}; }

 private:
  [[nodiscard]] Result<FileMapping> map(const KernelFile& file, std::uint64_t bytes, bool writes) override {
    return FileMapping::map(file.get(), bytes, writes, {}, path());
  }
  [[nodiscard]] Status write_all(std::span<const Extent> extents, Meter& meter) override {
    return move_all<Direction::write>(extents, meter, [](std::byte* mapped, const Extent& extent) {
      std::memcpy(mapped, extent.data, extent.length_bytes);
      errno = EIO;
      return extent.offset_bytes != 2 * extent.length_bytes;
    });
  }
};

TEST(MappedFile, AStoreThatFailsIsAnErrorOfItsTransfer) {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/f";
  for (const int threads : {1, 2}) {
    const BusErrorHandler handler;
    MovingThreads others(2);
    ASSERT_TRUE(others.start());
    KernelFile file(Descriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)), path);
    FailingFile mapped({.file = std::move(file),
                        .path = path,
                        .request = {.name = "f", .expected_bytes = 20'000},
                        .backend = "failing",
                        .threads = threads == 1 ? nullptr : &others});
    ASSERT_TRUE(mapped.begin());
    test::Transfers transfers(5, 4000, 1);
    test::RunningMeter meter;
    const auto written = mapped.transfer(Direction::write, transfers.extents(), *meter);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().errno_value, EIO);
    EXPECT_EQ(written.error().offset_bytes, 8000U) << test::line_of(written);
    EXPECT_TRUE(mapped.close());
  }
}

}  // namespace ullage::mapped_file_test
