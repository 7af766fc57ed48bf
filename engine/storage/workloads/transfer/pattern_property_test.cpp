// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "storage/workloads/transfer/pattern.hpp"

namespace ullage::transfer_pattern_property_test {

TransferShape some_shape() {
  TransferShape shape;
  shape.transfer_bytes = *rc::gen::inRange<std::uint64_t>(1, 600) * 8;
  shape.block_bytes = shape.transfer_bytes * *rc::gen::inRange<std::uint64_t>(1, 20);
  shape.segments = *rc::gen::inRange<std::uint64_t>(1, 20);
  shape.ranks = *rc::gen::inRange<std::uint64_t>(1, 9);
  shape.file_mode = *rc::gen::element(FileMode::shared, FileMode::per_process);
  shape.order = *rc::gen::element(Order::sequential, Order::random, Order::backward, Order::strided);
  shape.stride = *rc::gen::inRange<std::uint64_t>(1, 30);
  shape.seed = *rc::gen::arbitrary<std::uint64_t>();
  return shape;
}

/// Counts how often each transfer-sized piece of a file is visited by `rank`.
void visit(const TransferShape& shape, std::uint64_t rank, std::vector<int>& visits) {
  const TransferPattern pattern(shape, rank);
  RC_ASSERT(pattern.operations() == shape.block_bytes / shape.transfer_bytes * shape.segments);
  visits.resize(pattern.file_bytes() / shape.transfer_bytes);
  for (std::uint64_t i = 0; i < pattern.operations(); ++i) {
    const std::uint64_t offset = pattern.offset_bytes(i);
    RC_ASSERT(offset % shape.transfer_bytes == 0U);
    RC_ASSERT(offset + shape.transfer_bytes <= pattern.file_bytes());
    ++visits[offset / shape.transfer_bytes];
  }
}

RC_GTEST_PROP(TransferPatternProperty, TheRanksCoverEveryFileExactlyOnce, ()) {
  const TransferShape shape = some_shape();
  std::vector<int> visits;
  for (std::uint64_t rank = 0; rank < shape.ranks; ++rank) {
    if (shape.file_mode == FileMode::per_process) visits.clear();
    visit(shape, rank, visits);
    if (shape.file_mode == FileMode::per_process || rank + 1 == shape.ranks)
      for (const int times : visits) RC_ASSERT(times == 1);
  }
}

RC_GTEST_PROP(TransferPatternProperty, RandomOrdersDifferBetweenRanksAndSeeds, ()) {
  TransferShape shape = some_shape();
  shape.order = Order::random;
  shape.file_mode = FileMode::per_process;
  shape.segments = 40;
  TransferShape reseeded = shape;
  ++reseeded.seed;
  const TransferPattern mine(shape, 0);
  const TransferPattern of_another(shape, 1);
  const TransferPattern other_seed(reseeded, 0);
  std::uint64_t same_rank = 0;
  std::uint64_t same_seed = 0;
  for (std::uint64_t i = 0; i < mine.operations(); ++i) {
    same_rank += mine.offset_bytes(i) == of_another.offset_bytes(i);
    same_seed += mine.offset_bytes(i) == other_seed.offset_bytes(i);
  }
  RC_ASSERT(same_rank < 16);  // expected 1
  RC_ASSERT(same_seed < 16);
}

RC_GTEST_PROP(TransferPatternProperty, RepeatIsAlwaysTheRanksFirstTransfer, ()) {
  TransferShape shape = some_shape();
  shape.order = Order::sequential;
  TransferShape again = shape;
  again.order = Order::repeat;
  for (std::uint64_t rank = 0; rank < shape.ranks; ++rank) {
    const TransferPattern once(shape, rank);
    const TransferPattern repeated(again, rank);
    RC_ASSERT(repeated.operations() == once.operations());
    RC_ASSERT(repeated.file_bytes() == once.file_bytes());
    for (std::uint64_t i = 0; i < repeated.operations(); ++i)
      RC_ASSERT(repeated.offset_bytes(i) == once.offset_bytes(0));
  }
}

}  // namespace ullage::transfer_pattern_property_test
