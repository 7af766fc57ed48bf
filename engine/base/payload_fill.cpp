// SPDX-License-Identifier: Apache-2.0
#include "base/payload_fill.hpp"

#include <algorithm>
#include <cstring>

namespace ullage {
namespace {

using Words16 = std::uint64_t __attribute__((vector_size(16)));

void fill_by_16_bytes(std::byte* to, const std::byte* pool, const std::uint64_t* keys, std::size_t count) {
  for (const std::uint64_t* end = keys + count; keys != end; ++keys) {
    const Words16 key = Words16{} ^ *keys;  // read once: for all the compiler knows `to` is where the keys are
    for (std::size_t at = 0; at < PayloadFill::block_bytes; at += sizeof key) {
      Words16 words;
      std::memcpy(&words, pool + at, sizeof words);
      words ^= key;
      std::memcpy(to + at, &words, sizeof words);
    }
    pool += PayloadFill::block_bytes;
    to += PayloadFill::block_bytes;
  }
}

const Registered<PayloadFill> registered_fill_by_16_bytes{PayloadFill{
    .description = {"portable", "Uses vectors of 16 bytes, which every 64-bit CPU has."},
    .vector_bytes = sizeof(Words16),
    .works_here = [] { return true; },
    .blocks = fill_by_16_bytes,
}};

const PayloadFill* widest_that_works() {
  const PayloadFill* widest = nullptr;
  for (const PayloadFill& fill : Registry<PayloadFill>::instance().all())
    if (fill.works_here() && (widest == nullptr || fill.vector_bytes > widest->vector_bytes)) widest = &fill;
  return widest;
}

}  // namespace

const PayloadFill& widest_payload_fill() {
  static const PayloadFill& widest = *widest_that_works();
  return widest;
}

}  // namespace ullage
