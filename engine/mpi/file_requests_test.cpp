// SPDX-License-Identifier: Apache-2.0
#include "mpi/file_requests.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "storage/test_support.hpp"

namespace ullage::mpi::file_requests_test {
namespace {

/// A file for each rank.
class MpiFileRequests : public testing::Test {
 protected:
  [[nodiscard]] Result<File> open(FileAccess access) const {
    return File::open(Comm::self(), folder_.path() + "/f", access, {});
  }
  test::TempFolder folder_;
};

TEST_F(MpiFileRequests, WhatWasBegunIsMovedAndCounted) {
  constexpr std::size_t piece = 70'000;
  std::vector<std::byte> out(4 * piece);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>(i * 31 % 253);
  auto file = open(FileAccess::create);
  ASSERT_TRUE(file) << test::line_of(file);
  FileRequests requests;
  requests.wait();
  EXPECT_EQ(requests.size(), 0U) << "nothing was begun";
  EXPECT_TRUE(requests.test());
  for (int half = 0; half < 2; ++half) {
    requests.reserve(2);
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t at = (2 * static_cast<std::size_t>(half) + i) * piece;
      const Status begun = requests.write_at(*file, at, std::span(out).subspan(at, piece));
      ASSERT_TRUE(begun) << test::line_of(begun);
    }
    if (half == 1)
      while (!requests.test()) {
      }
    requests.wait();
    ASSERT_EQ(requests.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(requests.moved_bytes(i).value(), piece);
  }
  EXPECT_TRUE(file->close());

  auto again = open(FileAccess::read);
  ASSERT_TRUE(again);
  std::vector<std::byte> in(out.size());
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_TRUE(requests.read_at(*again, i * piece, std::span(in).subspan(i * piece, piece)));
  requests.wait();
  EXPECT_EQ(requests.size(), 4U);
  EXPECT_EQ(in, out);
  EXPECT_TRUE(again->close());
}

TEST_F(MpiFileRequests, EndOfFileIsAShortCount) {
  if (mpi_io_component().starts_with("ompio")) GTEST_SKIP() << "OMPIO waits for ever for a read past the end";
  test::write_file(folder_.path() + "/f", std::string(5000, 'x'));
  auto file = open(FileAccess::read);
  ASSERT_TRUE(file);
  std::array<std::byte, 4096> data{};
  FileRequests requests;
  ASSERT_TRUE(requests.read_at(*file, 4096, data));
  requests.wait();
  EXPECT_EQ(requests.moved_bytes(0).value(), 5000U - 4096);
  EXPECT_EQ(data[903], std::byte{'x'});
  EXPECT_TRUE(file->close());
}

/// A library that says success has moved nothing then.
TEST_F(MpiFileRequests, AFailureIsAnErrorOrNothingMoved) {
  auto file = open(FileAccess::create);
  ASSERT_TRUE(file);
  std::array<std::byte, 512> data{};
  FileRequests requests;
  const Status begun = requests.read_at(*file, 0, data);
  requests.wait();
  if (begun) {
    const auto moved = requests.moved_bytes(0);
    EXPECT_TRUE(!moved || *moved == 0) << "it is write-only";
  }
  EXPECT_TRUE(file->close());
}

/// Past the limit of the size of a file, the kernel takes no byte.
TEST_F(MpiFileRequests, AWriteThatFailsAfterItWasBegunEnds) {
  auto file = open(FileAccess::create);
  ASSERT_TRUE(file);
  rlimit given{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &given), 0);
  const auto at_limit = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit none{.rlim_cur = 0, .rlim_max = given.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  std::array<std::byte, 4096> data{};
  FileRequests requests;
  const Status begun = requests.write_at(*file, 0, data);
  const Status second = requests.write_at(*file, 4096, data);
  requests.wait();
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &given), 0);
  (void)std::signal(SIGXFSZ, at_limit);
  EXPECT_EQ(requests.size(), begun && second ? 2U : 0U);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto moved = requests.moved_bytes(i);
    EXPECT_TRUE(!moved || *moved == 0);
  }
  EXPECT_TRUE(file->close());
}

}  // namespace
}  // namespace ullage::mpi::file_requests_test
