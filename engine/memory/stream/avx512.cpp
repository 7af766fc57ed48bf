// SPDX-License-Identifier: Apache-2.0
#include "base/isa.hpp"
#include "memory/stream/job.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f")
#endif
#include "memory/stream/loops.hpp"

namespace ullage {
namespace {

struct StreamAvx512 {
  using Vector = double __attribute__((vector_size(64), may_alias));
  using Integers = std::uint64_t __attribute__((vector_size(64), may_alias));
  static constexpr bool has_non_temporal = true;
  static void stream(Vector* to, const Vector& value) { _mm512_stream_pd(reinterpret_cast<double*>(to), value); }
  static void fence() { _mm_sfence(); }
};

constexpr StreamLoops avx512_loops = stream_loops_of<StreamAvx512>("avx512");

}  // namespace
}  // namespace ullage

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace ullage {
namespace {

const Registered<StreamLoopsEntry> registered_avx512{{
    .description = {.name = "avx512", .doc = "Uses vectors of 64 bytes."},
    .loops = [] -> const StreamLoops* { return cpu_has(features::avx512f) ? &avx512_loops : nullptr; },
}};

}  // namespace
}  // namespace ullage
#endif
