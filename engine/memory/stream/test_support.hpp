// SPDX-License-Identifier: Apache-2.0
// The same questions to the loops of every instruction set. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <numeric>

#include "memory/test_support.hpp"

namespace ullage::test {

inline constexpr std::array<StreamKind, stream_kinds> all_stream_kinds{
    StreamKind::read, StreamKind::write, StreamKind::copy,      StreamKind::scale,
    StreamKind::add,  StreamKind::triad, StreamKind::read_write};

/// The loops of that instruction set; null where this CPU or this build does not have them.
inline const StreamLoops* stream_loops_of(const std::string& instruction_set) {
  const StreamLoopsEntry* const entry = Registry<StreamLoopsEntry>::instance().find(instruction_set);
  return entry == nullptr ? nullptr : entry->loops();
}

/// Arrays a, b and c, with a line before and after a, which nobody may write.
class StreamArrays final {
 public:
  explicit StreamArrays(std::size_t bytes) : a_(bytes + 2 * stream_line), b_(bytes), c_(bytes), count_(bytes / 8) {
    for (std::size_t i = 0; i < a_.elements().size(); ++i) a_.elements()[i] = stream_value(0, i - 8);
    for (std::size_t i = 0; i < count_; ++i) {
      b_.elements()[i] = stream_value(1, i);
      c_.elements()[i] = stream_value(2, i);
    }
  }
  [[nodiscard]] StreamJob job() {
    StreamJob job;
    job.a = a_.data() + stream_line;
    job.b = b_.data();
    job.c = c_.data();
    job.block_bytes = count_ * 8;
    job.blocks = 1;
    return job;
  }
  [[nodiscard]] std::uint64_t sum_of_b() {
    std::uint64_t sum = 0;
    for (const double b : b_.elements()) sum += std::bit_cast<std::uint64_t>(b);
    return sum;
  }
  /// Elements of a that do not hold what `passes` passes of a kind lead to, and neighbours that were touched.
  [[nodiscard]] std::size_t wrong(StreamKind kind, std::uint64_t passes) {
    std::size_t bad = 0;
    for (std::size_t i = 0; i < count_ + 16; ++i) {
      const bool is_inside = i >= 8 && i < count_ + 8 && kind != StreamKind::read;
      const double right = is_inside ? stream_result(kind, i - 8, passes) : stream_value(0, i - 8);
      bad += std::bit_cast<std::uint64_t>(a_.elements()[i]) == std::bit_cast<std::uint64_t>(right) ? 0 : 1;
    }
    return bad;
  }

 private:
  Lines a_;
  Lines b_;
  Lines c_;
  std::size_t count_;
};

/// Every kind and store at sizes around the unrolled step: one line, whole steps, steps and a rest.
inline void expect_right_results(const StreamLoops& loops) {
  for (const std::size_t bytes : {64U, 512U, 1024U, 1600U, 4096U + 64U})
    for (const StreamKind kind : all_stream_kinds)
      for (const Stores stores : {Stores::ordinary, Stores::non_temporal}) {
        const StreamLoop loop = loops.loop(kind, stores);
        if (loop == nullptr) continue;
        StreamArrays arrays(bytes);
        StreamJob job = arrays.job();
        job.passes = 2;
        std::uint64_t sum = loop(job);
        job.first_pass = 2;
        job.passes = 3;
        sum += loop(job);
        EXPECT_EQ(arrays.wrong(kind, 5), 0U) << static_cast<int>(kind) << " of " << bytes << " bytes";
        EXPECT_EQ(sum, kind == StreamKind::read ? 5 * arrays.sum_of_b() : 0) << bytes << " bytes";
      }
}

/// Only the blocks that are named, in whatever order, and as often as they are.
inline void expect_blocks_in_order(const StreamLoops& loops) {
  constexpr std::size_t block = 128;
  const std::vector<std::uint32_t> order{3, 0, 3};
  StreamArrays arrays(4 * block);
  StreamJob job = arrays.job();
  job.block_bytes = block;
  job.blocks = order.size();
  job.order = order.data();
  job.passes = 1;
  job.pause = 2;
  EXPECT_EQ(loops.loop(StreamKind::read_write, Stores::ordinary)(job), 0U);
  const auto* const a = reinterpret_cast<const std::uint64_t*>(job.a);
  const std::vector<std::uint64_t> more{1, 0, 0, 2};
  for (std::size_t i = 0; i < 4 * block / 8; ++i)
    EXPECT_EQ(a[i] - std::bit_cast<std::uint64_t>(stream_value(0, i)), more[i / (block / 8)]) << i;
}

/// The system in which the loops are wrong must be told from one that lacks their instructions.
inline void expect_all_stores(const StreamLoops& loops) {
  for (const StreamKind kind : all_stream_kinds) {
    EXPECT_NE(loops.loop(kind, Stores::ordinary), nullptr);
    EXPECT_EQ(loops.loop(kind, Stores::non_temporal) != nullptr, kind != StreamKind::read);
  }
}

}  // namespace ullage::test
