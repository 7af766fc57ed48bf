// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/tile/parameters.hpp"

#include <gtest/gtest.h>

#include <string>

#include "storage/workloads/tile/test_support.hpp"

namespace ullage::tile_parameters_test {
namespace {

using tile_test::parameters_of;

Status checked(const Values& given, int ranks = 6, const Capabilities& capabilities = {.views = true}) {
  PlannedLayout layout;
  layout.ranks = ranks;
  return check_tile(parameters_of(given), capabilities, layout, "/p");
}

void expect_refused(const Status& status, const std::string& where, const std::string& what) {
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().where, where);
  EXPECT_NE(status.error().text.find(what), std::string::npos) << status.error().text;
}

TEST(TileParameters, DefaultsAreThoseOfTheOriginal) {
  const TileParameters defaults;
  EXPECT_EQ(defaults.shape().frame_bytes(), 1024U * 1024 * 3);
  EXPECT_EQ(defaults.shape().tiles(), 1U);
  EXPECT_EQ(defaults.calls, TileCalls::independent);
}

TEST(TileParameters, WhatCannotBeIsRefusedWithItsPlace) {
  EXPECT_TRUE(checked({}).has_value());
  expect_refused(checked({{"tiles_x", std::int64_t{3}}, {"tiles_y", std::int64_t{3}}}), "/p/tiles_x",
                 "makes 9 tiles with the others, but there are 6 ranks");
  expect_refused(checked({{"overlap_y", std::int64_t{1024}}}), "/p/overlap_y", "below the 1024 elements");
  expect_refused(checked({{"tiles_x", std::int64_t{2147483647}}}), "/p/tiles_x", "more than 2147483647 elements");
  expect_refused(checked({{"tile_x", std::int64_t{2000000000}},
                          {"tile_y", std::int64_t{2000000000}},
                          {"element_bytes", std::int64_t{2000000000}}}),
                 "/p/frames", "4e18");
  expect_refused(checked({{"phases", std::vector<std::string>{"read"}}}), "/p/phases", "write");
  expect_refused(checked({}, 6, {.views = false}), "/p", "views");
  expect_refused(checked({}, 6, {.data = false, .views = true}), "/p/verify", "holds no data");
}

TEST(TileParameters, WhatALibraryWithArraysDecidesIsRefused) {
  const Capabilities arrays{.arrays = true};
  EXPECT_TRUE(checked({}, 6, arrays).has_value());
  expect_refused(checked({{"header_bytes", std::int64_t{8}}}, 6, arrays), "/p/header_bytes", "must be 0");
  const TileParameters independent = parameters_of({});
  const TileParameters collective = parameters_of({{"calls", std::string("collective")}});
  EXPECT_TRUE(check_tile_backend(independent, arrays));
  EXPECT_TRUE(check_tile_backend(collective, {.views = true}));
  expect_refused(check_tile_backend(collective, arrays), "calls", "must be independent, as the backend's");
  expect_refused(check_tile_backend(independent, {.collective = true, .arrays = true}), "calls", "must be collective");
  expect_refused(check_tile_backend(parameters_of({{"header_bytes", std::int64_t{8}}}), arrays), "header_bytes",
                 "must be 0");
}

TEST(TileParameters, RoomIsThatOfTheFrames) {
  const TileParameters parameters =
      parameters_of({{"frames", std::int64_t{5}}, {"header_bytes", std::int64_t{1} << 40}});
  EXPECT_EQ(needs_of_tile(parameters).bytes, 5U * 1024 * 1024 * 3);
}

}  // namespace
}  // namespace ullage::tile_parameters_test
