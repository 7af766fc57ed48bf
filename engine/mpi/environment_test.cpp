// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>

#include "mpi/file.hpp"

namespace ullage::mpi::environment_test {
namespace {

TEST(MpiEnvironment, LibraryNamesItselfOnOneLine) {
  EXPECT_FALSE(library_version().empty());
  EXPECT_EQ(library_version().find('\n'), std::string::npos);
}

TEST(MpiIoComponent, IsNamed) {
  const std::string component = mpi_io_component();
  const char* chosen = std::getenv("OMPI_MCA_io");
  if (library_version().find("Open MPI") == std::string::npos) {
    EXPECT_EQ(component, "romio");
  } else {
    EXPECT_EQ(component, chosen == nullptr ? "ompio" : chosen);
  }
}

}  // namespace

}  // namespace ullage::mpi::environment_test
