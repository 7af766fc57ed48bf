// SPDX-License-Identifier: Apache-2.0
#include "storage/side_files.hpp"

#include <gtest/gtest.h>

namespace ullage::side_files_test {
namespace {

TEST(SideFiles, OfRomioAndOfOmpioAreKnown) {
  for (const char* name : {".data.shfp.3698005776.10693", ".data.shfp.12345", "data-1183186945-10876.lock",
                           "data.data.0", "data.metadata.1023"})
    EXPECT_EQ(file_beside(name), "data") << name;
  EXPECT_EQ(file_beside("data.00000003-12-34.lock"), "data.00000003");
  EXPECT_EQ(file_beside(".data.00000003.shfp.12.34"), "data.00000003");
  EXPECT_EQ(file_beside("data.data.data.1"), "data.data");
}

TEST(SideFiles, NothingElseIs) {
  for (const char* name : {"",
                           "data",
                           ".data",
                           "data.lock",
                           "data-1.lock",
                           "data-1-.lock",
                           "data--1.lock",
                           "data-1-2.lock.old",
                           "data-a-2.lock",
                           "data.data.",
                           "data.data.x",
                           "data.data.1x",
                           "data.metadata.-1",
                           "data.other.1",
                           ".data.shfp.",
                           ".data.shfp.1.",
                           ".data.shfp..1",
                           ".data.shfp.1.2.3",
                           ".data.shfp.a",
                           "data.shfp.1.2",
                           "-1-2.lock",
                           ".shfp.1",
                           "..shfp.1.2.lock",
                           ".data.1",
                           "data.data.123456789012345678901",
                           "data.00000001"})
    EXPECT_FALSE(file_beside(name)) << name;
}

}  // namespace
}  // namespace ullage::side_files_test
