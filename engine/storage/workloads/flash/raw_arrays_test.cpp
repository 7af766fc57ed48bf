// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/flash/raw_arrays.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "storage/test_support.hpp"
#include "storage/workloads/flash/layout.hpp"

namespace ullage {
namespace {

using test::Bench;
using test::line_of;

class MpiRawArrays : public testing::TestWithParam<const char*> {};

TEST_P(MpiRawArrays, AHeaderThatDiffersIsFound) {
  Bench bench;
  const auto backend = bench.make(GetParam());
  const auto arrays = FlashLayout{FlashFile::plot_centred, 2, 4, 9}.arrays();
  RawArraysRequest request{{"f", OpenMode::create, true, 0}, arrays, false, true, bench.world().root()};
  auto file = open_raw_arrays(*backend, request);
  ASSERT_TRUE(file) << line_of(file);
  EXPECT_TRUE((*file)->sync());
  EXPECT_TRUE((*file)->close());
  bench.world().all().barrier();
  request.file.mode = OpenMode::read;
  file = open_raw_arrays(*backend, request);
  ASSERT_TRUE(file) << line_of(file);
  EXPECT_TRUE((*file)->close());
  bench.world().all().barrier();
  if (bench.world().root()) {
    std::fstream stream(bench.path("f"), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(100);
    stream.put('#');
  }
  bench.world().all().barrier();
  const auto bad = open_raw_arrays(*backend, request);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind, ErrorKind::verification);
  EXPECT_EQ(bad.error().offset_bytes, 100U);
}

INSTANTIATE_TEST_SUITE_P(Backends, MpiRawArrays, testing::Values("posix", "mpiio"));

}  // namespace
}  // namespace ullage
