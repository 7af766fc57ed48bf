// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/b_eff_io/buffers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace ullage::b_eff_io_buffers_test {
namespace {

using Block = std::vector<std::byte>;

BEffIoContents contents(std::uint64_t call_bytes) {
  BEffIoContents contents;
  contents.key = 11;
  contents.pattern = 5;
  contents.call_bytes = call_bytes;
  contents.writer = 3;
  return contents;
}

/// More than there are buffers.
int some_calls(std::uint64_t call_bytes) {
  if (call_bytes < 1000) return 20000;
  return call_bytes < 10000 ? 2500 : 70;
}

std::vector<Block> written(const BEffIoContents& contents, int generation, int calls) {
  AlignedBuffer memory;
  BEffIoBuffers buffers(memory, contents);
  buffers.fill(generation);
  std::vector<Block> all;
  for (int i = 0; i < calls; ++i) {
    const auto buffer = buffers.next_to_write();
    EXPECT_EQ(buffer.size(), contents.call_bytes);
    EXPECT_EQ(buffers.call(), static_cast<std::uint64_t>(i));
    all.emplace_back(buffer.begin(), buffer.end());
  }
  return all;
}

/// Bad blocks of each call.
std::vector<std::uint64_t> read(const BEffIoContents& contents, const std::vector<Block>& data) {
  AlignedBuffer memory;
  BEffIoBuffers buffers(memory, contents);
  buffers.poison();
  std::vector<std::uint64_t> bad;
  for (const Block& block : data) {
    std::ranges::copy(block, buffers.next_to_read().begin());
    bad.push_back(buffers.check().bad_blocks);
  }
  return bad;
}

TEST(BEffIoBuffers, AsManyAsMake256KibibytesButOneAtLeast) {
  AlignedBuffer memory;
  EXPECT_EQ(BEffIoBuffers(memory, contents(1024)).count(), 256U);
  EXPECT_EQ(BEffIoBuffers(memory, contents(1032)).count(), 254U);
  EXPECT_EQ(BEffIoBuffers(memory, contents(1 << 20)).count(), 1U);
  EXPECT_EQ(BEffIoBuffers(memory, contents(20 << 20)).count(), 1U);
  EXPECT_EQ(BEffIoBuffers(memory, contents(8)).count(), 16384U);
  EXPECT_GE(memory.size(), 20U << 20) << "grown, never shrunk";
}

TEST(BEffIoBuffers, NoTwoCallsHaveTheSameContents) {
  for (const std::uint64_t bytes : {8U, 24U, 1032U, 32776U, 600000U}) {
    const auto all = written(contents(bytes), 1, some_calls(bytes));
    EXPECT_EQ(std::set<Block>(all.begin(), all.end()).size(), all.size()) << bytes;
  }
}

TEST(BEffIoBuffers, WhatWasWrittenIsRecognised) {
  for (const std::uint64_t bytes : {8U, 24U, 1032U, 32776U, 600000U}) {
    const auto all = written(contents(bytes), 1, some_calls(bytes));
    for (const std::uint64_t bad : read(contents(bytes), all)) EXPECT_EQ(bad, 0U) << bytes;
  }
}

TEST(BEffIoBuffers, OtherCallsPatternsRanksAndDatasetsAreNot) {
  const BEffIoContents own = contents(1032);
  auto swapped = written(own, 1, 2000);
  std::swap(swapped[7], swapped[7 + 1016]);
  const auto bad = read(own, swapped);
  EXPECT_EQ(bad[7], 3U) << "tags of all three blocks differ";
  EXPECT_EQ(bad[7 + 1016], 3U);
  EXPECT_EQ(std::ranges::count(bad, 0U), 1998);
  for (const auto& change : {+[](BEffIoContents& c) { ++c.key; }, +[](BEffIoContents& c) { ++c.pattern; },
                             +[](BEffIoContents& c) { ++c.writer; }}) {
    BEffIoContents other = own;
    change(other);
    for (const std::uint64_t blocks : read(own, written(other, 1, 3))) EXPECT_EQ(blocks, 3U);
  }
  for (const std::uint64_t blocks : read(own, written(own, 2, 3))) EXPECT_EQ(blocks, 3U);
}

TEST(BEffIoBuffers, ARewriteThatWasCutIsOfTwoGenerations) {
  BEffIoContents own = contents(4096);
  auto data = written(own, 2, 300);
  const auto before = written(own, 1, 300);
  std::copy(before.begin() + 120, before.end(), data.begin() + 120);
  own.rewritten = 100;
  own.rewritten_by_some = 150;  // this rank came to 120
  for (const std::uint64_t bad : read(own, data)) EXPECT_EQ(bad, 0U);
  own.rewritten_by_some = 110;
  EXPECT_EQ(read(own, data)[115], 8U);
  std::swap(data[99], data[100]);
  EXPECT_EQ(read(own, data)[99], 8U);
}

TEST(BEffIoBuffers, WhatWasNotFilledIsFound) {
  AlignedBuffer memory;
  BEffIoBuffers buffers(memory, contents(512));
  buffers.poison();
  for (int i = 0; i < 5000; ++i) {
    (void)buffers.next_to_read();
    const auto found = buffers.check();
    ASSERT_EQ(found.bad_blocks, 1U);
    ASSERT_NE(found.first->found.find("buffer not filled"), std::string::npos) << found.first->found;
  }
}

}  // namespace
}  // namespace ullage::b_eff_io_buffers_test
