// SPDX-License-Identifier: Apache-2.0
// One VEX or EVEX instruction each; V is a register of 16, 32 or 64 bytes, which the calling function may use.
#pragma once

namespace ullage::compute {

struct VexAddFp32 {
  template <class V>
  [[gnu::always_inline]] static void step(V& x, const V& /*a*/, const V& b) {
    asm volatile("vaddps %1, %0, %0" : "+v"(x) : "v"(b));
  }
};
struct VexAddFp64 {
  template <class V>
  [[gnu::always_inline]] static void step(V& x, const V& /*a*/, const V& b) {
    asm volatile("vaddpd %1, %0, %0" : "+v"(x) : "v"(b));
  }
};
struct VexMultiplyFp32 {
  template <class V>
  [[gnu::always_inline]] static void step(V& x, const V& /*a*/, const V& b) {
    asm volatile("vmulps %1, %0, %0" : "+v"(x) : "v"(b));
  }
};
struct VexMultiplyFp64 {
  template <class V>
  [[gnu::always_inline]] static void step(V& x, const V& /*a*/, const V& b) {
    asm volatile("vmulpd %1, %0, %0" : "+v"(x) : "v"(b));
  }
};
struct VexFmaFp32 {
  template <class V>
  [[gnu::always_inline]] static void step(V& x, const V& a, const V& b) {
    asm volatile("vfmadd231ps %2, %1, %0" : "+v"(x) : "v"(a), "v"(b));
  }
};
struct VexFmaFp64 {
  template <class V>
  [[gnu::always_inline]] static void step(V& x, const V& a, const V& b) {
    asm volatile("vfmadd231pd %2, %1, %0" : "+v"(x) : "v"(a), "v"(b));
  }
};
struct VexFmaFp16 {
  template <class V>
  [[gnu::always_inline]] static void step(V& x, const V& a, const V& b) {
    asm volatile("vfmadd231ph %2, %1, %0" : "+v"(x) : "v"(a), "v"(b));
  }
};

struct VexAddInt8 {
  template <class V>
  [[gnu::always_inline]] static void step(V& x, const V& /*a*/, const V& b) {
    asm volatile("vpaddb %1, %0, %0" : "+v"(x) : "v"(b));
  }
};
struct VexAddInt16 {
  template <class V>
  [[gnu::always_inline]] static void step(V& x, const V& /*a*/, const V& b) {
    asm volatile("vpaddw %1, %0, %0" : "+v"(x) : "v"(b));
  }
};
struct VexAddInt32 {
  template <class V>
  [[gnu::always_inline]] static void step(V& x, const V& /*a*/, const V& b) {
    asm volatile("vpaddd %1, %0, %0" : "+v"(x) : "v"(b));
  }
};
struct VexAddInt64 {
  template <class V>
  [[gnu::always_inline]] static void step(V& x, const V& /*a*/, const V& b) {
    asm volatile("vpaddq %1, %0, %0" : "+v"(x) : "v"(b));
  }
};
struct VexMultiplyInt16 {
  template <class V>
  [[gnu::always_inline]] static void step(V& x, const V& /*a*/, const V& b) {
    asm volatile("vpmullw %1, %0, %0" : "+v"(x) : "v"(b));
  }
};
struct VexMultiplyInt32 {
  template <class V>
  [[gnu::always_inline]] static void step(V& x, const V& /*a*/, const V& b) {
    asm volatile("vpmulld %1, %0, %0" : "+v"(x) : "v"(b));
  }
};
struct EvexMultiplyInt64 {
  template <class V>
  [[gnu::always_inline]] static void step(V& x, const V& /*a*/, const V& b) {
    asm volatile("vpmullq %1, %0, %0" : "+v"(x) : "v"(b));
  }
};

// Dot products: neighbours of a and b, multiplied and added to an accumulator of 32 bits. The bytes of a are unsigned.
struct VexDotInt8 {
  template <class V>
  [[gnu::always_inline]] static void step(V& x, const V& a, const V& b) {
    asm volatile("%{vex%} vpdpbusd %2, %1, %0" : "+x"(x) : "x"(a), "x"(b));
  }
};
struct VexDotInt16 {
  template <class V>
  [[gnu::always_inline]] static void step(V& x, const V& a, const V& b) {
    asm volatile("%{vex%} vpdpwssd %2, %1, %0" : "+x"(x) : "x"(a), "x"(b));
  }
};
struct EvexDotInt8 {
  template <class V>
  [[gnu::always_inline]] static void step(V& x, const V& a, const V& b) {
    asm volatile("vpdpbusd %2, %1, %0" : "+v"(x) : "v"(a), "v"(b));
  }
};
struct EvexDotInt16 {
  template <class V>
  [[gnu::always_inline]] static void step(V& x, const V& a, const V& b) {
    asm volatile("vpdpwssd %2, %1, %0" : "+v"(x) : "v"(a), "v"(b));
  }
};
struct EvexDotBf16 {
  template <class V>
  [[gnu::always_inline]] static void step(V& x, const V& a, const V& b) {
    asm volatile("vdpbf16ps %2, %1, %0" : "+v"(x) : "v"(a), "v"(b));
  }
};

}  // namespace ullage::compute
