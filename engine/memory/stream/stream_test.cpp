// SPDX-License-Identifier: Apache-2.0
// Workload `stream` as a plan has it.
#include "memory/stream/stream.hpp"

#include <gtest/gtest.h>

#include "memory/stream/test_support.hpp"

namespace ullage::stream_test {
namespace {

using test::MpiMemoryWorkload;

TEST_F(MpiMemoryWorkload, StreamMeasuresEveryThread) {
  const Values given{{"threads", 2}, {"working_set_bytes", std::int64_t{6 * 4096}}};
  ASSERT_EQ(run("stream", given), PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(sum("threads"), 2.0 * world_.size());
  EXPECT_EQ(sum("used_bytes"), 6.0 * 4096 * world_.size());
  EXPECT_EQ(sum("application_bytes"), record_["bytes"].get<double>());
  EXPECT_DOUBLE_EQ(sum("bus_bytes") / sum("application_bytes"), 4.0 / 3);
  EXPECT_GE(sum("vector_bytes"), 16.0 * world_.size());
}

TEST_F(MpiMemoryWorkload, StreamWithHugePagesSaysWhatCameOfThem) {
  const Values given{{"working_set_bytes", 1 << 22}, {"pages", std::string("huge")}};
  ASSERT_EQ(run("stream", given), PhaseStatus::ok);
  const Values small{{"working_set_bytes", 1 << 22}, {"pages", std::string("small")}};
  const double most = world_.root() ? sum("huge_bytes") : 0;
  EXPECT_LE(most, world_.size() * 6.0 * (1 << 20));  // whole pages, with what is between the arrays
  ASSERT_EQ(run("stream", small), PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(sum("huge_bytes"), 0);
}

TEST_F(MpiMemoryWorkload, StreamOnANodeThatIsNotThereFailsWithALine) {
  EXPECT_EQ(run("stream", {{"cpu_node", 1000}}), PhaseStatus::failed);
  EXPECT_EQ(run("stream", {{"memory_node", 1000}}), PhaseStatus::failed);
}

TEST_F(MpiMemoryWorkload, StreamTooLargeForTheMachineFailsBeforeItsTimer) {
  EXPECT_EQ(run("stream", {{"working_set_bytes", std::int64_t{1} << 49}}), PhaseStatus::failed);
}

TEST_F(MpiMemoryWorkload, StreamRefusesWhatCannotBe) {
  EXPECT_EQ(refusal("stream", {}), "");
  EXPECT_NE(refusal("stream", {{"working_set_bytes", 128}}).find("/p/working_set_bytes"), std::string::npos);
}

TEST_F(MpiMemoryWorkload, StreamNeedsNoStorageAndSaysWhichLoopsItHas) {
  EXPECT_FALSE(entry("stream").works_on_storage());
  const auto& words = entry("stream").description.capabilities;
  EXPECT_NE(std::ranges::find(words, "loops:baseline"), words.end());
}

constexpr std::uint64_t array_bytes = 2048;

StreamParameters parameters(StreamKind kind, Stores stores = Stores::ordinary) {
  StreamParameters p;
  p.kind = kind;
  p.stores = stores;
  p.threads = 2;
  p.working_set_bytes = 2 * array_bytes * arrays_of(kind);
  return p;
}

/// Ready, and `passes` passes further.
std::unique_ptr<StreamKernel> kernel_after(const StreamParameters& p, std::uint64_t passes) {
  auto kernel = std::make_unique<StreamKernel>(p, 3, 1, Status{});
  for (const std::size_t thread : {0U, 1U}) {
    EXPECT_TRUE(kernel->make_ready(thread));
    kernel->run(thread, 1);
    if (passes > 1) kernel->run(thread, passes - 1);
  }
  return kernel;
}

TEST(StreamKernel, EveryKindAndStoreIsRightInBothOrders) {
  for (const StreamKind kind : test::all_stream_kinds)
    for (const Stores stores : {Stores::ordinary, Stores::non_temporal})
      for (const BlockOrder order : {BlockOrder::sequential, BlockOrder::random}) {
        StreamParameters p = parameters(kind, stores);
        p.order = order;
        p.block_bytes = 128;
        if (stream_candidates(kind, stores, 0).empty()) continue;
        const auto kernel = kernel_after(p, 3);
        EXPECT_TRUE(kernel->check()) << static_cast<int>(kind);
      }
}

TEST(StreamKernel, CorruptedMemoryIsFound) {
  for (const StreamKind kind : test::all_stream_kinds) {
    const auto kernel = kernel_after(parameters(kind), 2);
    ASSERT_TRUE(kernel->check());
    kernel->memory(1)[array_bytes - 1] ^= std::byte{1};
    if (kind == StreamKind::read) kernel->run(1, 1);  // only what is read can be wrong
    const Status status = kernel->check();
    ASSERT_FALSE(status) << static_cast<int>(kind);
    EXPECT_EQ(status.error().kind, ErrorKind::verification);
    EXPECT_NE(to_line(status.error()).find("memory of thread 1"), std::string::npos);
  }
}

TEST(StreamKernel, PassThatWasNotMadeIsFound) {
  for (const StreamKind kind : {StreamKind::write, StreamKind::scale, StreamKind::triad, StreamKind::read_write}) {
    const auto kernel = kernel_after(parameters(kind), 2);
    const auto memory = kernel->memory(0);
    const std::vector<std::byte> before(memory.begin(), memory.end());
    kernel->run(0, 1);
    std::ranges::copy(before, memory.begin());
    EXPECT_FALSE(kernel->check()) << static_cast<int>(kind);
  }
}

TEST(StreamKernel, CountsWhatStreamCounts) {
  const auto kernel = kernel_after(parameters(StreamKind::triad), 1);
  EXPECT_EQ(kernel->bytes_a_pass(), 2 * 3 * array_bytes);
  WindowTotals totals;
  totals.passes = 10;
  totals.threads = 2;
  Gauges gauges;
  kernel->report(totals, gauges);
  EXPECT_EQ(gauges["application_bytes"], 10.0 * 2 * 3 * array_bytes);
  EXPECT_EQ(gauges["bus_bytes"], 10.0 * 2 * 4 * array_bytes);
  EXPECT_EQ(gauges["used_bytes"], 2.0 * 3 * array_bytes);
}

TEST(StreamKernel, MoreMemoryThanThereIsIsRefusedUntouched) {
  StreamParameters p = parameters(StreamKind::read);
  p.working_set_bytes = std::uint64_t{1} << 49U;
  StreamKernel kernel(p, 3, 1, Status{});
  const Status status = kernel.make_ready(0);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::environment);
  EXPECT_EQ(status.error().where, "working_set_bytes");
}

TEST(StreamKernel, BlockOrderIsAPermutationThatTheSeedChanges) {
  const auto order = block_order(1000, 1);
  auto sorted = order;
  std::ranges::sort(sorted);
  for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(sorted[i], i);
  EXPECT_NE(order, sorted);
  EXPECT_NE(order, block_order(1000, 2));
  EXPECT_EQ(order, block_order(1000, 1));
}

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

}  // namespace ullage::stream_test
