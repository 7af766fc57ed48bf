// SPDX-License-Identifier: Apache-2.0
#include "base/payload_fill.hpp"

#include <cstring>

#include "base/isa.hpp"

namespace ullage {
namespace {

using Words16 = std::uint64_t __attribute__((vector_size(16)));

/// Inlined into a function that may use the registers of `Words`.
template <class Words>
[[gnu::always_inline]] inline void fill_by(std::byte* to, const std::byte* pool, const std::uint64_t* keys,
                                           std::size_t count) {
  for (const std::uint64_t* end = keys + count; keys != end; ++keys) {
    const Words key = Words{} ^ *keys;  // read once: for all the compiler knows `to` is where the keys are
    for (std::size_t at = 0; at < PayloadFill::block_bytes; at += sizeof key) {
      Words words;
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
    .blocks = fill_by<Words16>,
}};

#if defined(__x86_64__)
using Words32 = std::uint64_t __attribute__((vector_size(32)));
using Words64 = std::uint64_t __attribute__((vector_size(64)));

[[gnu::target("avx2")]] void fill_by_32_bytes(std::byte* to, const std::byte* pool, const std::uint64_t* keys,
                                              std::size_t count) {
  fill_by<Words32>(to, pool, keys, count);
}

[[gnu::target("avx512f")]] void fill_by_64_bytes(std::byte* to, const std::byte* pool, const std::uint64_t* keys,
                                                 std::size_t count) {
  fill_by<Words64>(to, pool, keys, count);
}

const Registered<PayloadFill> registered_fill_by_32_bytes{PayloadFill{
    .description = {"avx2", "Uses vectors of 32 bytes."},
    .vector_bytes = sizeof(Words32),
    .works_here = [] { return cpu_has(features::avx2); },
    .blocks = fill_by_32_bytes,
}};

const Registered<PayloadFill> registered_fill_by_64_bytes{PayloadFill{
    .description = {"avx512", "Uses vectors of 64 bytes."},
    .vector_bytes = sizeof(Words64),
    .works_here = [] { return cpu_has(features::avx512f); },
    .blocks = fill_by_64_bytes,
}};
#endif

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
