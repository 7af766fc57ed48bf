// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpi/comm.hpp"

namespace ullage::mpi::environment_test {
namespace {

TEST(MpiEnvironment, LibraryNamesItselfOnOneLine) {
  EXPECT_FALSE(library_version().empty());
  EXPECT_EQ(library_version().find('\n'), std::string::npos);
  EXPECT_FALSE(processor_name().empty());
}

}  // namespace
}  // namespace ullage::mpi::environment_test
