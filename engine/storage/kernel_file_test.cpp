// SPDX-License-Identifier: Apache-2.0
#include "storage/kernel_file.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::kernel_file_test {

using namespace test;

/// An opener over the bench's folder.
KernelFileOpener opener(const Bench& bench, const KernelFileParameters& parameters = {}) {
  return KernelFileOpener(parameters, {&bench.world(), &bench.folder(), 1});
}

TEST(KernelFile, IsClosedOnceAndMayBeAskedAgain) {
  const Bench bench;
  auto file = opener(bench).open({"f", OpenMode::create, false, 0});
  ASSERT_TRUE(file) << line_of(file);
  EXPECT_TRUE(file->sync());
  EXPECT_TRUE(file->close());
  EXPECT_TRUE(file->close());
  EXPECT_EQ(file->sync().error().errno_value, EBADF);
}

TEST(KernelFile, ErrorsNameOperationPathAndOffset) {
  const Bench bench;
  const auto file = opener(bench).open({"f", OpenMode::create, false, 0});
  ASSERT_TRUE(file);
  const std::string path = bench.path("f");
  EXPECT_EQ(to_line(file->nothing_moved(Direction::read, 7)),
            "read " + path + " at offset 7: end of file inside a transfer (errno 5)");
  EXPECT_EQ(file->failed(Direction::write, ENOSPC, 9).errno_value, ENOSPC);
  EXPECT_EQ(file->failed(Direction::write, ENOSPC, 9).operation, "write");
}

TEST(KernelFile, PreallocationMakesTheWholeFile) {
  const Bench bench;
  const auto file = opener(bench, {.preallocate = true}).open({"f", OpenMode::create, false, 65536});
  if (!file && file.error().errno_value == EOPNOTSUPP) GTEST_SKIP() << line_of(file);
  ASSERT_TRUE(file) << line_of(file);
  EXPECT_EQ(std::filesystem::file_size(bench.path("f")), 65536U);
}

TEST(KernelFile, HintsSayWhatWasAskedFor) {
  const Bench bench;
  EXPECT_TRUE(opener(bench).hints_given().empty());
  const Map hints = opener(bench, {.direct = true, .advice = Advice::random, .preallocate = true}).hints_given();
  EXPECT_EQ(hints, (Map{{"open", "O_DIRECT"}, {"posix_fadvise", "random"}, {"fallocate", "whole file"}}));
}

TEST(KernelFile, AlignmentNeedsAPathAndIsOneThroughThePageCache) {
  const Bench bench;
  EXPECT_EQ(alignment_for({}, {&bench.world(), nullptr, 1}, "x").error().text,
            "backend 'x' needs a target with a path");
  EXPECT_EQ(alignment_for({}, {&bench.world(), &bench.folder(), 1}, "x"), 1U);
}

}  // namespace ullage::kernel_file_test
