// SPDX-License-Identifier: Apache-2.0
#include "storage/backends/hdf5_words.hpp"

#include <gtest/gtest.h>

namespace ullage::hdf5_words_test {
namespace {

TEST(Hdf5Words, NameModesAndCauses) {
  EXPECT_EQ(hdf5_mode_text(4), "contiguous collective");
  EXPECT_EQ(hdf5_mode_text(9), "9");
  EXPECT_EQ(hdf5_cause_text(0x02), "datatype conversion");
  EXPECT_EQ(hdf5_cause_text(0x12), "datatype conversion, dataspace");
  EXPECT_EQ(hdf5_cause_text(0x400), "1024");
}

TEST(Hdf5Words, NameWhatPropertyListsHave) {
  EXPECT_EQ(hdf5_layout_text(1), "contiguous");
  EXPECT_EQ(hdf5_layout_text(2), "chunked");
  EXPECT_EQ(hdf5_fill_text(1), "never");
  EXPECT_EQ(hdf5_allocation_text(1), "early");
  EXPECT_EQ(hdf5_format_text(2), "1.10");
  EXPECT_EQ(hdf5_format_text(-1), "-1");
}

}  // namespace
}  // namespace ullage::hdf5_words_test
