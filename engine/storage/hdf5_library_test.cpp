// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "storage/hdf5_library.hpp"
#include "storage/test_support.hpp"

namespace ullage {
namespace {

using test::line_of;

TEST(MpiHdf5Library, WhatIsNotThereSaysSo) {
  const auto none = find_hdf5("libthat-nobody-has.so");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().text, "there is no library 'libthat-nobody-has.so'");
  const auto serial = find_hdf5("libc.so.6");
  ASSERT_FALSE(serial);
  EXPECT_EQ(serial.error().text, "was built without MPI");
}

/// The right MPI is not enough.
TEST(MpiHdf5Library, AnotherLibraryLacksAFunction) {
  for (const auto& path : loaded_libraries()) {
    if (path.find("hdf5") != std::string::npos || !check_mpi_of_library(path)) continue;
    const auto found = find_hdf5(path);
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().text.find("lacks H5"), std::string::npos) << line_of(found);
    return;
  }
  GTEST_SKIP() << "no library that needs MPI is loaded";
}

TEST(MpiHdf5Library, TheLibraryOfThisMpiOpens) {
  if (!hdf5_library()) GTEST_SKIP() << hdf5_library().error().text;
  const auto calls = open_hdf5();
  ASSERT_TRUE(calls) << line_of(calls);
  EXPECT_TRUE(hdf5_version(**calls).starts_with("1.") || hdf5_version(**calls).starts_with("2."));
  EXPECT_TRUE(check_mpi_of_library((*calls)->file));
}

/// Debian's HDF5 for MPICH asks for libmpich.so.12, also where the MPI in use is libmpi.so.12 of the same ABI.
TEST(MpiHdf5Library, ItBringsNoSecondMpi) {
  if (!hdf5_library()) GTEST_SKIP() << hdf5_library().error().text;
  std::vector<std::string> found;
  for (const auto& path : loaded_libraries()) {
    const std::string name = std::filesystem::path(path).filename();
    if (name.starts_with("libmpi.so") || name.starts_with("libmpich.so")) found.push_back(path);
  }
  EXPECT_LE(found.size(), 1U) << found.front() << " and " << found.back();
}

TEST(MpiHdf5Library, TheStackOfErrorsIsOneLine) {
  if (!hdf5_library()) GTEST_SKIP() << hdf5_library().error().text;
  const Hdf5Calls& calls = **open_hdf5();
  const test::TempFolder folder;
  const std::string path = folder.path() + "/none";
  EXPECT_LT(calls.open_file(path.c_str(), 0, 0), 0);
  const Error error = hdf5_error(calls, "open", path);
  EXPECT_EQ(error.where, path);
  EXPECT_TRUE(error.text.starts_with("H5Fopen: unable to open file: ")) << error.text;
  EXPECT_EQ(error.text.find('\n'), std::string::npos);
  EXPECT_NE(hdf5_error(calls, "open", path).text.find("no reason"), std::string::npos) << "the stack is not cleared";
}

}  // namespace
}  // namespace ullage
