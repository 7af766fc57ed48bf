// SPDX-License-Identifier: Apache-2.0
// Blocks of payload by AVX2.
#include <cstring>

#include "base/isa.hpp"
#include "base/payload_fill.hpp"

#if defined(__x86_64__)

namespace ullage {
namespace {

using Words32 = std::uint64_t __attribute__((vector_size(32)));

[[gnu::target("avx2")]] void fill_by_32_bytes(std::byte* to, const std::byte* pool, const std::uint64_t* keys,
                                              std::size_t count) {
  for (const std::uint64_t* end = keys + count; keys != end; ++keys) {
    const Words32 key = Words32{} ^ *keys;  // read once: for all the compiler knows `to` is where the keys are
    for (std::size_t at = 0; at < PayloadFill::block_bytes; at += sizeof key) {
      Words32 words;
      std::memcpy(&words, pool + at, sizeof words);
      words ^= key;
      std::memcpy(to + at, &words, sizeof words);
    }
    pool += PayloadFill::block_bytes;
    to += PayloadFill::block_bytes;
  }
}

const Registered<PayloadFill> registered_fill_by_32_bytes{PayloadFill{
    .description = {"avx2", "Uses vectors of 32 bytes."},
    .vector_bytes = sizeof(Words32),
    .works_here = [] { return cpu_has(features::avx2); },
    .blocks = fill_by_32_bytes,
}};

}  // namespace
}  // namespace ullage

#endif
