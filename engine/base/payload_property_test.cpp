// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/payload.hpp"

namespace ullage::payload_property_test {

using Bytes = std::vector<std::byte>;

struct Given {
  PayloadSpec spec;
  std::uint64_t writer = 0;
  std::uint64_t offset = 0;
  Bytes bytes;
  std::size_t blocks = 0;
};

Given some_transfer(std::uint64_t least_bytes = 8) {
  Given given;
  given.spec.run_key = *rc::gen::arbitrary<std::uint64_t>();
  given.spec.transfer_bytes = *rc::gen::inRange<std::uint64_t>(least_bytes / 8, 3000) * 8;
  given.spec.compress_ratio = *rc::gen::element(1.0, 1.5, 2.0, 4.0, 8.0);
  given.writer = *rc::gen::inRange<std::uint64_t>(0, 100'000);
  given.offset = *rc::gen::inRange<std::uint64_t>(0, 1'000'000) * given.spec.transfer_bytes;
  given.spec.file_bytes = 1'000'000 * given.spec.transfer_bytes;
  given.bytes.resize(given.spec.transfer_bytes);
  given.blocks = (given.bytes.size() + 511) / 512;
  Payload(given.spec).fill(given.bytes, given.writer, given.offset);
  return given;
}

Payload::Check check(const Given& given) { return Payload(given.spec).check(given.bytes, given.writer, given.offset); }

bool says(const Payload::Check& check, const std::string& text) {
  return check.first && check.first->found.find(text) != std::string::npos;
}

RC_GTEST_PROP(PayloadProperty, WhatWasWrittenIsRight, ()) { RC_ASSERT(check(some_transfer()).bad_blocks == 0U); }

RC_GTEST_PROP(PayloadProperty, AnyFlippedBitIsFoundWhereItIs, ()) {
  Given given = some_transfer(16);
  const auto at = *rc::gen::inRange<std::size_t>(0, given.bytes.size());
  given.bytes[at] ^= std::byte{1} << *rc::gen::inRange(0, 8);
  const auto result = check(given);
  RC_ASSERT(result.bad_blocks == 1U);
  RC_ASSERT(result.first->offset_bytes == given.offset + at);
  const bool tag_alone =
      given.bytes.size() - at / 512 * 512 == 8;  // a block that is nothing but a tag cannot be known by its body
  RC_ASSERT(tag_alone || says(result, "right block, 1 of "));
}

RC_GTEST_PROP(PayloadProperty, AnySwappedPairOfBlocksIsFoundAndNamed, ()) {
  Given given = some_transfer(1024);
  const std::size_t whole = given.bytes.size() / 512;
  const auto first = *rc::gen::inRange<std::size_t>(0, whole - 1);
  const auto second = *rc::gen::inRange<std::size_t>(first + 1, whole);
  std::swap_ranges(given.bytes.begin() + static_cast<std::ptrdiff_t>(first * 512),
                   given.bytes.begin() + static_cast<std::ptrdiff_t>(first * 512 + 512),
                   given.bytes.begin() + static_cast<std::ptrdiff_t>(second * 512));
  const auto result = check(given);
  RC_ASSERT(result.bad_blocks == 2U);
  RC_ASSERT(says(result, "(block of rank " + std::to_string(given.writer) + ", offset " +
                             std::to_string(given.offset + second * 512) + ")"));
}

RC_GTEST_PROP(PayloadProperty, ATransferOfAnotherPlaceIsFoundAndNamed, ()) {
  Given given = some_transfer();
  const auto other_writer = *rc::gen::inRange<std::uint64_t>(0, 100'000);
  const auto other_offset = *rc::gen::inRange<std::uint64_t>(0, 1'000'000) * given.spec.transfer_bytes;
  RC_PRE(other_writer != given.writer || other_offset != given.offset);
  Payload(given.spec).fill(given.bytes, other_writer, other_offset);
  const auto result = check(given);
  RC_ASSERT(result.bad_blocks == given.blocks);
  RC_ASSERT(says(result,
                 "(block of rank " + std::to_string(other_writer) + ", offset " + std::to_string(other_offset) + ")"));
}

RC_GTEST_PROP(PayloadProperty, AnyStaleBlockIsFound, ()) {
  Given given = some_transfer();
  Given stale = given;
  stale.spec.run_key ^= std::uint64_t{1} << *rc::gen::inRange(0, 64);
  Payload(stale.spec).fill(stale.bytes, given.writer, given.offset);
  const auto block = *rc::gen::inRange<std::size_t>(0, given.blocks);
  const std::size_t end = std::min(given.bytes.size(), block * 512 + 512);
  std::copy(stale.bytes.begin() + static_cast<std::ptrdiff_t>(block * 512),
            stale.bytes.begin() + static_cast<std::ptrdiff_t>(end),
            given.bytes.begin() + static_cast<std::ptrdiff_t>(block * 512));
  const auto result = check(given);
  RC_ASSERT(result.bad_blocks == 1U);
  RC_ASSERT(result.first->offset_bytes / 8 == (given.offset + block * 512) / 8);
  // A block that is nothing but a tag might decode to some place of the file.
  RC_ASSERT(end - block * 512 == 8 || says(result, "neither of this run nor of this write"));
}

RC_GTEST_PROP(PayloadProperty, AnyUnwrittenBlockIsFoundAndNamed, ()) {
  Given given = some_transfer();
  const auto block = *rc::gen::inRange<std::size_t>(0, given.blocks);
  const std::size_t end = std::min(given.bytes.size(), block * 512 + 512);
  std::fill(given.bytes.begin() + static_cast<std::ptrdiff_t>(block * 512),
            given.bytes.begin() + static_cast<std::ptrdiff_t>(end), std::byte{0});
  const auto result = check(given);
  RC_ASSERT(result.bad_blocks == 1U);
  RC_ASSERT(end - block * 512 == 8 || says(result, "never written: zeros"));
}

}  // namespace ullage::payload_property_test
