// SPDX-License-Identifier: Apache-2.0
#include "base/isa.hpp"
#include "memory/stream/job.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
#include "memory/stream/loops.hpp"

namespace ullage {
namespace {

struct StreamAvx2 {
  using Vector = double __attribute__((vector_size(32), may_alias));
  using Integers = std::uint64_t __attribute__((vector_size(32), may_alias));
  static constexpr bool has_non_temporal = true;
  static void stream(Vector* to, const Vector& value) { _mm256_stream_pd(reinterpret_cast<double*>(to), value); }
  static void fence() { _mm_sfence(); }
};

constexpr StreamLoops avx2_loops = stream_loops_of<StreamAvx2>("avx2");

}  // namespace
}  // namespace ullage

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace ullage {
namespace {

const Registered<StreamLoopsEntry> registered_avx2{{
    .description = {.name = "avx2", .doc = "Uses vectors of 32 bytes."},
    .loops = [] -> const StreamLoops* { return cpu_has(features::avx2) ? &avx2_loops : nullptr; },
}};

}  // namespace
}  // namespace ullage
#endif
