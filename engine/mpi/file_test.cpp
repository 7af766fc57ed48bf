// SPDX-License-Identifier: Apache-2.0
#include "mpi/file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>

#include "storage/test_support.hpp"

namespace ullage::mpi::file_test {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

class MpiFile : public testing::Test {
 protected:
  MpiFile() {
    if (world_.rank() == 0) folder_ = std::make_unique<test::TempFolder>();
    path_ = world_.broadcast(folder_ ? folder_->path() : std::string(), 0);
  }
  ~MpiFile() override { world_.barrier(); }
  [[nodiscard]] Result<File> open(const std::string& name, FileAccess access) const {
    return File::open(world_, path_ + "/" + name, access, {});
  }

  Comm world_ = Comm::world();
  std::unique_ptr<test::TempFolder> folder_;
  std::string path_;
};

TEST_F(MpiFile, CountsWhatItMoves) {
  auto file = open("f", FileAccess::create);
  ASSERT_TRUE(file) << test::line_of(file);
  const auto rank = static_cast<std::uint64_t>(world_.rank());
  EXPECT_EQ(file->write_at(rank * 10, bytes_of("0123456789")).value(), 10U);
  EXPECT_EQ(file->write_at_all(0, {}).value(), 0U);
  EXPECT_TRUE(file->sync());
  EXPECT_TRUE(file->close());
  EXPECT_TRUE(file->close()) << "a second time is nothing";

  auto again = open("f", FileAccess::read);
  ASSERT_TRUE(again);
  std::array<std::byte, 10> data{};
  EXPECT_EQ(again->read_at_all(rank * 10, data).value(), 10U);
  EXPECT_EQ(data[3], std::byte{'3'});
  const std::uint64_t end = 10U * static_cast<unsigned>(world_.size());
  EXPECT_EQ(again->read_at(end - 4, data).value(), 4U) << "end of file is a short count";
  EXPECT_EQ(again->read_at(end, data).value(), 0U);
  EXPECT_TRUE(again->close());
}

TEST_F(MpiFile, FailuresAreValues) {
  const auto missing = open("none", FileAccess::read);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().operation, "open");
  EXPECT_EQ(missing.error().where, path_ + "/none");
  EXPECT_FALSE(missing.error().text.empty());
  auto file = open("f", FileAccess::create);
  ASSERT_TRUE(file);
  std::array<std::byte, 10> data{};
  EXPECT_FALSE(file->read_at(0, data)) << "it is write-only";
  EXPECT_TRUE(file->close());
  EXPECT_FALSE(File::open(Comm::self(), path_ + "/f", FileAccess::create, {})) << "it is there";
}

TEST_F(MpiFile, AnyCharactersInThePath) {
  const std::string name = "a b'c\"d<x>e;é";
  auto file = open(name, FileAccess::create);
  ASSERT_TRUE(file) << test::line_of(file);
  EXPECT_TRUE(file->close());
  EXPECT_TRUE(std::filesystem::exists(path_ + "/" + name));
}

}  // namespace
}  // namespace ullage::mpi::file_test
