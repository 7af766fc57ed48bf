// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/calls.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "storage/test_support.hpp"

namespace ullage::sar_calls_test {
namespace {

TEST(SarCalls, EachPartOfAnOperationIsTimedApart) {
  test::Bench bench;
  const auto backend = bench.make("posix");
  SarCalls calls(*backend, {SarPart::open, SarPart::transfer, SarPart::close});
  EXPECT_EQ(calls.part_names(), (std::vector<std::string>{"open", "transfer", "close"}));
  test::RunningMeter meter;
  meter->use_parts(3);
  meter->start(now_ns());
  std::vector<std::byte> data(5000);
  const std::vector<Extent> extents{{0, 3000, data.data()}, {3000, 2000, data.data() + 3000}};
  for (const char* name : {"a", "b"}) {
    OpenRequest request;
    request.name = name;
    calls.begin(*meter);
    const auto file = calls.open(request);
    ASSERT_TRUE(file.has_value()) << test::line_of(file);
    EXPECT_TRUE(calls.move(**file, Direction::write, extents, SarPart::transfer).has_value());
    EXPECT_TRUE(calls.close(**file).has_value());
    calls.done();
    EXPECT_TRUE(meter->completed(5000));
  }
  EXPECT_EQ(calls.files(), 2U);
  EXPECT_EQ(meter->operations(), 2U) << "the extents of a transfer are no operations";
  std::uint64_t all_ns = 0;
  for (const Histogram& part : meter->parts()) {
    EXPECT_EQ(part.operations(), 2U);
    EXPECT_GT(part.sum_ns(), 0U);
    all_ns += part.sum_ns();
  }
  EXPECT_LE(all_ns, meter->histogram().sum_ns());
}

TEST(SarCalls, AFileThatIsNotThereIsNotCounted) {
  test::Bench bench;
  const auto backend = bench.make("posix");
  SarCalls calls(*backend, {SarPart::open});
  test::RunningMeter meter;
  calls.begin(*meter);
  OpenRequest request;
  request.name = "absent";
  request.mode = OpenMode::read;
  EXPECT_FALSE(calls.open(request).has_value());
  EXPECT_EQ(calls.files(), 0U);
}

}  // namespace
}  // namespace ullage::sar_calls_test
