// SPDX-License-Identifier: Apache-2.0
// Blocks of payload by AVX-512F.
#include <cstring>

#include "base/isa.hpp"
#include "base/payload_fill.hpp"

#if defined(__x86_64__)

namespace ullage {
namespace {

using Words64 = std::uint64_t __attribute__((vector_size(64)));

[[gnu::target("avx512f")]] void fill_by_64_bytes(std::byte* to, const std::byte* pool, const std::uint64_t* keys,
                                                 std::size_t count) {
  for (const std::uint64_t* end = keys + count; keys != end; ++keys) {
    const Words64 key = Words64{} ^ *keys;  // read once: for all the compiler knows `to` is where the keys are
    for (std::size_t at = 0; at < PayloadFill::block_bytes; at += sizeof key) {
      Words64 words;
      std::memcpy(&words, pool + at, sizeof words);
      words ^= key;
      std::memcpy(to + at, &words, sizeof words);
    }
    pool += PayloadFill::block_bytes;
    to += PayloadFill::block_bytes;
  }
}

const Registered<PayloadFill> registered_fill_by_64_bytes{PayloadFill{
    .description = {"avx512", "Uses vectors of 64 bytes."},
    .vector_bytes = sizeof(Words64),
    .works_here = [] { return cpu_has(features::avx512f); },
    .blocks = fill_by_64_bytes,
}};

}  // namespace
}  // namespace ullage

#endif
