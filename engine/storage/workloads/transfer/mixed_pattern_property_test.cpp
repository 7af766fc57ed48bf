// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "storage/workloads/transfer/pattern.hpp"

namespace ullage::mixed_transfer_pattern_property_test {

MixedTransferShape some_shape() {
  MixedTransferShape shape;
  TransferShape& written = shape.written;
  shape.transfer_bytes = *rc::gen::inRange<std::uint64_t>(1, 5) * 512;
  written.transfer_bytes =
      shape.transfer_bytes * *rc::gen::inRange<std::uint64_t>(1, 5) + 8 * *rc::gen::inRange<std::uint64_t>(0, 64);
  written.block_bytes = written.transfer_bytes * *rc::gen::inRange<std::uint64_t>(1, 6);
  written.segments = *rc::gen::inRange<std::uint64_t>(1, 6);
  written.ranks = *rc::gen::inRange<std::uint64_t>(1, 5);
  written.file_mode = *rc::gen::element(FileMode::shared, FileMode::per_process);
  written.order = *rc::gen::element(Order::sequential, Order::random, Order::backward, Order::strided);
  const std::uint64_t all = TransferPattern(written, 0).operations();
  shape.written_operations = *rc::gen::inRange<std::uint64_t>(1, all + 1);
  shape.pick = *rc::gen::element(Pick::random, Pick::permutation, Pick::zipf);
  shape.zipf_theta = *rc::gen::inRange(0, 30) / 10.0;
  shape.read_share = *rc::gen::inRange(0, 1001) / 1000.0;
  shape.seed = *rc::gen::arbitrary<std::uint64_t>();
  return shape;
}

/// Every position, by what the writing case did.
std::set<std::uint64_t> positions(const MixedTransferShape& shape, std::uint64_t source) {
  const TransferPattern written(shape.written, source);
  std::set<std::uint64_t> found;
  for (std::uint64_t i = 0; i < shape.written_operations; ++i)
    for (std::uint64_t at = 0; at + shape.transfer_bytes <= shape.written.transfer_bytes; at += shape.transfer_bytes)
      found.insert(written.offset_bytes(i) + at);
  return found;
}

RC_GTEST_PROP(MixedTransferPatternProperty, OnlyWhatWasWrittenIsTouched, ()) {
  const MixedTransferShape shape = some_shape();
  const auto source = *rc::gen::inRange<std::uint64_t>(0, shape.written.ranks);
  const MixedTransferPattern pattern(shape, 0, source);
  const auto allowed = positions(shape, source);
  RC_ASSERT(pattern.positions() == allowed.size());
  for (std::uint64_t i = 0; i < 500; ++i) RC_ASSERT(allowed.contains(pattern.at(i).offset_bytes));
}

RC_GTEST_PROP(MixedTransferPatternProperty, APermutationTouchesEverythingBeforeItBeginsAgain, ()) {
  MixedTransferShape shape = some_shape();
  shape.pick = Pick::permutation;
  const MixedTransferPattern pattern(shape, 1, 0);
  const auto pass = *rc::gen::inRange<std::uint64_t>(0, 4);
  std::set<std::uint64_t> touched;
  for (std::uint64_t i = 0; i < pattern.positions(); ++i)
    touched.insert(pattern.at(pass * pattern.positions() + i).offset_bytes);
  RC_ASSERT(touched == positions(shape, 0));
}

RC_GTEST_PROP(MixedTransferPatternProperty, EveryPeriodHasExactlyItsReads, ()) {
  const MixedTransferShape shape = some_shape();
  const MixedTransferPattern pattern(shape, *rc::gen::inRange<std::uint64_t>(0, 9), 0);
  const std::uint64_t from = MixedTransferPattern::period * *rc::gen::inRange<std::uint64_t>(0, 1'000'000);
  std::uint64_t reads = 0;
  for (std::uint64_t i = 0; i < MixedTransferPattern::period; ++i) reads += pattern.at(from + i).reads ? 1 : 0;
  RC_ASSERT(reads == static_cast<std::uint64_t>(shape.read_share * 1000 + 0.5));
}

}  // namespace ullage::mixed_transfer_pattern_property_test
