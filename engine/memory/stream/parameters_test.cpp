// SPDX-License-Identifier: Apache-2.0
#include "memory/stream/parameters.hpp"

#include <gtest/gtest.h>

namespace ullage::stream_parameters_test {
namespace {

StreamParameters triad(std::uint64_t bytes, int threads) {
  StreamParameters p;
  p.working_set_bytes = bytes;
  p.threads = threads;
  return p;
}

std::string refusal(const StreamParameters& p) {
  const Status status = check_stream(p, "/p");
  return status ? "" : to_line(status.error());
}

TEST(StreamParameters, WorkingSetIsSharedByThreadsAndArrays) {
  EXPECT_EQ(triad(6 * 4096, 2).array_bytes(), 4096U);
  EXPECT_EQ(triad(6 * 4096, 2).blocks(), 1U);
  EXPECT_EQ(triad(1024, 1).array_bytes(), 320U);  // whole lines
  StreamParameters blocks = triad(std::uint64_t{3} << 20U, 1);
  blocks.block_bytes = 192;
  EXPECT_EQ(blocks.array_bytes() % 192, 0U);
  EXPECT_EQ(blocks.blocks(), (1U << 20U) / 192);
}

TEST(StreamParameters, SetTooSmallForAllArraysIsRefused) {
  EXPECT_EQ(refusal(triad(3 * 2 * 64, 2)), "");
  EXPECT_NE(refusal(triad(3 * 2 * 64 - 1, 2)).find("must be at least 384"), std::string::npos);
  StreamParameters blocks = triad(4096, 1);
  blocks.block_bytes = 4096;
  EXPECT_NE(refusal(blocks).find("must be at least 12288"), std::string::npos);
}

TEST(StreamParameters, BlocksMustBeLinesAndRandomOrderNeedsThem) {
  StreamParameters p = triad(1 << 20, 1);
  p.order = BlockOrder::random;
  EXPECT_NE(refusal(p).find("/p/block_bytes"), std::string::npos);
  p.block_bytes = 1000;
  EXPECT_NE(refusal(p).find("multiple of 64"), std::string::npos);
  p.block_bytes = 1024;
  EXPECT_EQ(refusal(p), "");
}

TEST(StreamParameters, LargeArraysBeginApart) {
  EXPECT_EQ(triad(3 * 4096, 1).array_stride(), 4096U);
  EXPECT_NE(triad(std::uint64_t{3} << 20U, 1).array_stride() % 4096, 0U);
  EXPECT_EQ(triad(std::uint64_t{3} << 20U, 1).array_stride() % stream_line, 0U);
}

TEST(StreamParameters, WidthMustBeOneThisCpuHas) {
  StreamParameters p = triad(1 << 20, 1);
  p.vector_bytes = 16;
  EXPECT_EQ(refusal(p), "");
  p.vector_bytes = 24;
  EXPECT_NE(refusal(p).find("/p/vector_bytes"), std::string::npos);
}

TEST(StreamParameters, ReadHasNoStores) {
  StreamParameters p = triad(1 << 20, 1);
  p.kind = StreamKind::read;
  EXPECT_EQ(refusal(p), "");
  p.stores = Stores::non_temporal;
  EXPECT_NE(refusal(p).find("/p/stores"), std::string::npos);
}

}  // namespace
}  // namespace ullage::stream_parameters_test
