// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/parameters.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::loader_parameters_test {
namespace {

constexpr Capabilities files{.file_threads = 8};
constexpr Capabilities device{.path = false, .data = false, .file_threads = 1};

std::string refusal(const LoaderParameters& parameters, const Capabilities& capabilities = files, int ranks = 2) {
  PlannedLayout layout;
  layout.ranks = ranks;
  return test::line_of(check_loader(parameters, capabilities, layout, "/p"));
}

TEST(LoaderParameters, DefaultsAreFine) { EXPECT_EQ(refusal({}), "no error"); }

TEST(LoaderParameters, WhatMeansNothingIsRefusedByItsName) {
  const auto with = [](auto change) {
    LoaderParameters p;
    change(p);
    return p;
  };
  EXPECT_NE(refusal(with([](auto& p) { p.data = LoaderData::none; })).find("/p/data"), std::string::npos);
  EXPECT_NE(refusal({}, device).find("/p/data"), std::string::npos);
  EXPECT_NE(refusal(with([](auto& p) { p.data = LoaderData::none; }), device).find("/p/verify"), std::string::npos);
  EXPECT_NE(refusal(with([](auto& p) { p.data = LoaderData::use, p.epochs = 0; })).find("/p/epochs"),
            std::string::npos);
  EXPECT_NE(refusal(with([](auto& p) { p.accelerators = 1; })).find("/p/accelerators"), std::string::npos);
  EXPECT_NE(refusal(with([](auto& p) { p.batch = 600; })).find("/p/batch"), std::string::npos);
  EXPECT_NE(refusal(with([](auto& p) { p.accelerators = 5; })).find("/p/threads"), std::string::npos)
      << "12 threads on one of the ranks";
  EXPECT_NE(refusal(with([](auto& p) { p.read_samples = 2000; })).find("/p/read_samples"), std::string::npos);
  EXPECT_NE(refusal(with([](auto& p) { p.unit_bytes = 4096, p.sample_bytes = 100; })).find("/p/unit_bytes"),
            std::string::npos);
  EXPECT_NE(refusal(with([](auto& p) { p.transfer_bytes = 1001; })).find("/p/transfer_bytes"), std::string::npos);
}

TEST(LoaderParameters, NeedsAreThoseOfWhatIsMade) {
  LoaderParameters p;
  p.samples = 1000;
  p.samples_per_file = 10;
  p.deviation_bytes = 0;
  EXPECT_EQ(needs_of_loader(p).inodes, 100U);
  EXPECT_GE(needs_of_loader(p).bytes, 1000U * 2828486);
  EXPECT_LE(needs_of_loader(p).bytes, 1000U * 2828488 + 100U * 4096);
  p.data = LoaderData::use;
  EXPECT_EQ(needs_of_loader(p).bytes, 0U);
}

TEST(LoaderParameters, TheWindowHasTheBatchesAheadAndTwoSamplesOfEachThread) {
  LoaderParameters p;
  p.threads = 4;
  p.ahead = 2;
  p.batch = 1;
  EXPECT_EQ(p.window(), 8U);
  p.batch = 400;
  EXPECT_EQ(p.window(), 800U);
}

}  // namespace
}  // namespace ullage::loader_parameters_test
