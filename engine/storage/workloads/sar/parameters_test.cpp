// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/parameters.hpp"

#include <string>

#include "storage/workloads/sar/test_support.hpp"

namespace ullage::sar_parameters_test {
namespace {

using sar_test::number;
using sar_test::parameters_of;
using sar_test::words;

PlannedLayout on(int ranks) {
  PlannedLayout layout;
  layout.ranks = ranks;
  return layout;
}

/// Returns where the parameters are refused, and why; empty where they are not.
std::string refusal(const Values& given, const Capabilities& capabilities = {.metadata = true}) {
  const Status status = check_sar(parameters_of(given), capabilities, on(4), "/p");
  return status ? "" : status.error().where + ": " + status.error().text;
}

TEST(SarParameters, WhatCannotBeIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({{"subimage_side", number(38)}}), "/p/subimage_side: must be at most the 37 columns of an image");
  EXPECT_EQ(refusal({{"subimage_side", number(51)}, {"columns", number(60)}}),
            "/p/subimage_side: must be at most the 50 rows of an image");
  EXPECT_EQ(refusal({{"grid", number(4096)}, {"depth", number(1'000'000)}, {"rows", number(1'000'000)}}),
            "/p/depth: makes more than 4e18 bytes with the other sizes");
  EXPECT_EQ(refusal({}, {.data = false, .metadata = true}), "/p/verify: must be none: this backend holds no data");
  EXPECT_EQ(refusal({}, {}), "/p/sync: must be none: this backend has no metadata operations");
  EXPECT_EQ(refusal({{"sync", words("none")}}, {}), "");
}

TEST(SarParameters, RoomIsThatOfEveryFile) {
  const SarParameters p = parameters_of({{"raw", words("own")}, {"raw_files", number(2)}});
  const Needs files = needs_of_sar(p, on(2));
  // 2 x 2 raw files of 16,400 bytes and 27 images of 7,400; 5 templates; groups of 648 and records of 128 bytes of at
  // most 10 pairs a rank.
  EXPECT_EQ(files.bytes, 4U * 20'480 + 27U * 8192 + 5U * 4096 + 2U * (8192 + 4096));
  EXPECT_EQ(files.inodes, 4U + 27 + 5 + 4 + 9);
  const Needs containers = needs_of_sar(parameters_of({{"layout", words("containers")}}), on(2));
  EXPECT_EQ(containers.bytes, 20'480U + 9U * 24'576 + 5U * 4096 + 2U * (8192 + 4096));
  EXPECT_EQ(containers.inodes, 1U + 9 + 5 + 4);
}

TEST(SarParameters, UnsaidSizesAreThoseOfThePublishedImages) {
  const SarParameters unsaid;
  EXPECT_EQ(unsaid.shape(1).image_bytes(), SarShape{}.image_bytes());
  EXPECT_EQ(unsaid.shape(1).raw_bytes(), SarShape{}.raw_bytes());
  EXPECT_EQ(unsaid.templates * unsaid.template_bytes, 40U * 4096);
}

}  // namespace
}  // namespace ullage::sar_parameters_test
