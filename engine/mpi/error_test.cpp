// SPDX-License-Identifier: Apache-2.0
#include "mpi/error.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cerrno>

namespace ullage::mpi::error_test {
namespace {

TEST(MpiError, OneLine) {
  EXPECT_EQ(one_line("MPICH Version:      5.0.2\nMPICH Release date: today"), "MPICH Version: 5.0.2");
  EXPECT_EQ(one_line("  Open MPI v4.1.4,\tpackage: x \r\n"), "Open MPI v4.1.4, package: x");
  EXPECT_EQ(one_line(std::string("a\0b", 3)), "a");
  EXPECT_EQ(one_line(""), "");
}

TEST(MpiError, SuccessPasses) { check(MPI_SUCCESS, "nothing"); }

TEST(MpiError, ClassesBecomeErrno) {
  EXPECT_EQ(errno_of(MPI_ERR_NO_SPACE), ENOSPC);
  EXPECT_EQ(errno_of(MPI_ERR_QUOTA), EDQUOT);
  EXPECT_EQ(errno_of(MPI_ERR_NO_SUCH_FILE), ENOENT);
  EXPECT_EQ(errno_of(MPI_ERR_READ_ONLY), EROFS);
  EXPECT_EQ(errno_of(MPI_ERR_IO), EIO);
  EXPECT_EQ(errno_of(MPI_ERR_OTHER), EIO);
}

TEST(MpiError, IoErrorNamesOperationAndPath) {
  const Error error = io_error(MPI_ERR_NO_SPACE, "write", "a/b");
  EXPECT_EQ(error.kind, ErrorKind::io);
  EXPECT_EQ(error.errno_value, ENOSPC);
  EXPECT_EQ(error.operation, "write");
  EXPECT_EQ(error.where, "a/b");
  EXPECT_FALSE(error.text.empty());
  EXPECT_EQ(error.text.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace ullage::mpi::error_test
