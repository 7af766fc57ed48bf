// SPDX-License-Identifier: Apache-2.0
#include "base/result.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace ullage::result_test {

TEST(Result, ErrnoBecomesOneLineWithEverythingKnown) {
  const Error error = errno_error(ENOSPC, "write", "/a/b", 4096);
  EXPECT_EQ(error.kind, ErrorKind::io);
  EXPECT_EQ(error.errno_value, ENOSPC);
  EXPECT_EQ(error.offset_bytes, 4096U);
  EXPECT_EQ(to_line(error), "write /a/b at offset 4096: No space left on device (errno 28)");
}

TEST(Result, OffsetZeroIsAnOffset) {
  EXPECT_EQ(to_line(errno_error(EIO, "read", "/a", 0)), "read /a at offset 0: Input/output error (errno 5)");
  EXPECT_EQ(to_line(errno_error(EIO, "sync", "/a")), "sync /a: Input/output error (errno 5)");
}

TEST(Result, WhatIsNotKnownLeavesNoTrace) {
  EXPECT_EQ(to_line(bad_plan("/cases/0/id", "is missing")), "/cases/0/id: is missing");
  EXPECT_EQ(to_line(environment_error("/mnt/x", "does not exist")), "/mnt/x: does not exist");
  EXPECT_EQ(to_line(environment_error("", "line of another rank")), "line of another rank");
  EXPECT_EQ(to_line(unsupported("mkdir", "c-1")), "mkdir: c-1");
}

TEST(Result, VerificationSaysWhatWasThereInstead) {
  Error error;
  error.kind = ErrorKind::verification;
  error.operation = "verify";
  error.where = "/a";
  error.text = "data differs from what was written";
  error.offset_bytes = 512;
  error.expected = "0102";
  error.found = "0000 (never written: zeros)";
  EXPECT_EQ(
      to_line(error),
      "verify /a at offset 512: data differs from what was written; expected 0102, found 0000 (never written: zeros)");
}

TEST(Result, EachMakerSetsItsKind) {
  EXPECT_EQ(bad_plan("/", "x").kind, ErrorKind::bad_plan);
  EXPECT_EQ(environment_error("/", "x").kind, ErrorKind::environment);
  EXPECT_EQ(unsupported("open", "x").kind, ErrorKind::unsupported);
}

TEST(Result, FailConvertsToAnyResult) {
  const Status status = fail(unsupported("open", "x"));
  const Result<int> number = fail(bad_plan("/n", "y"));
  ASSERT_FALSE(status.has_value());
  ASSERT_FALSE(number.has_value());
  EXPECT_EQ(status.error().operation, "open");
  EXPECT_EQ(number.error().where, "/n");
}

}  // namespace ullage::result_test
