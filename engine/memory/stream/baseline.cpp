// SPDX-License-Identifier: Apache-2.0
#include "memory/stream/loops.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace ullage {
namespace {

struct StreamBaseline {
  using Vector = double __attribute__((vector_size(16), may_alias));
  using Integers = std::uint64_t __attribute__((vector_size(16), may_alias));
#if defined(__x86_64__)
  static constexpr bool has_non_temporal = true;
  static void stream(Vector* to, const Vector& value) { _mm_stream_pd(reinterpret_cast<double*>(to), value); }
  static void fence() { _mm_sfence(); }
#elif defined(__aarch64__)
  static constexpr bool has_non_temporal = true;
  /// STNP stores a pair, here of 8-byte registers: the only width at which half of it is not another vector.
  static void stream(Vector* to, const Vector& value) {
    const double low = value[0];
    const double high = value[1];
    asm volatile("stnp %d1, %d2, %0" : "=Q"(*to) : "w"(low), "w"(high));
  }
  static void fence() { asm volatile("dmb ishst" ::: "memory"); }
#else
  static constexpr bool has_non_temporal = false;
#endif
};

constexpr StreamLoops baseline_loops = stream_loops_of<StreamBaseline>("baseline");

const Registered<StreamLoopsEntry> registered_baseline{{
    .description = {.name = "baseline", .doc = "Uses vectors of 16 bytes, which the compiler makes for any CPU."},
    .loops = [] -> const StreamLoops* { return &baseline_loops; },
}};

}  // namespace
}  // namespace ullage
