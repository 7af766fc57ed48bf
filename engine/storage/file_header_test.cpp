// SPDX-License-Identifier: Apache-2.0
#include "storage/file_header.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "storage/test_support.hpp"

namespace ullage::file_header_test {
namespace {

using test::Bench;
using test::line_of;

class MpiFileHeader : public testing::TestWithParam<std::pair<const char*, bool>> {};

TEST_P(MpiFileHeader, OneThatDiffersIsFoundAndAShortFileIsAnError) {
  Bench bench;
  const auto [name, collective] = GetParam();
  const auto backend = bench.make(name, collective ? Values{{"collective", true}} : Values{});
  const FileHeader header{std::string(200, 'h'), "f", collective, true, bench.world().root()};
  OpenRequest request{"f", OpenMode::create, true, 200};
  const auto open_and_close = [&]() -> Status {
    auto file = open_with_header(*backend, request, header);
    if (!file) return fail(file.error());
    const Status closed = (*file)->close();
    bench.world().all().barrier();
    return closed;
  };
  const auto written = open_and_close();
  ASSERT_TRUE(written) << line_of(written);
  request.mode = OpenMode::read;
  const auto read = open_and_close();
  ASSERT_TRUE(read) << line_of(read);
  if (bench.world().root()) {
    EXPECT_EQ(test::read_file(bench.path("f")), header.text);
    std::fstream stream(bench.path("f"), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(100);
    stream.put('#');
  }
  bench.world().all().barrier();
  const auto bad = open_and_close();
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind, ErrorKind::verification);
  EXPECT_EQ(bad.error().offset_bytes, 100U);
  bench.world().all().barrier();
  if (bench.world().root()) std::filesystem::resize_file(bench.path("f"), 150);
  bench.world().all().barrier();
  EXPECT_FALSE(open_and_close());
}

INSTANTIATE_TEST_SUITE_P(Backends, MpiFileHeader,
                         testing::Values(std::pair{"posix", false}, std::pair{"mpiio", false},
                                         std::pair{"mpiio", true}));

}  // namespace
}  // namespace ullage::file_header_test
