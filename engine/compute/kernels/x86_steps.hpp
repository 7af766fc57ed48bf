// SPDX-License-Identifier: Apache-2.0
// One VEX or EVEX instruction each; V is a register of 16, 32 or 64 bytes, which the calling function may use.
#pragma once

#include "compute/chain_loop.hpp"

namespace ullage::compute {

ULLAGE_STEP(VexAddFp32, "v", "vaddps %1, %0, %0");
ULLAGE_STEP(VexAddFp64, "v", "vaddpd %1, %0, %0");
ULLAGE_STEP(VexMultiplyFp32, "v", "vmulps %1, %0, %0");
ULLAGE_STEP(VexMultiplyFp64, "v", "vmulpd %1, %0, %0");
ULLAGE_FUSED_STEP(VexFmaFp32, "v", "vfmadd231ps %2, %1, %0");
ULLAGE_FUSED_STEP(VexFmaFp64, "v", "vfmadd231pd %2, %1, %0");
ULLAGE_FUSED_STEP(VexFmaFp16, "v", "vfmadd231ph %2, %1, %0");

ULLAGE_STEP(VexAddInt8, "v", "vpaddb %1, %0, %0");
ULLAGE_STEP(VexAddInt16, "v", "vpaddw %1, %0, %0");
ULLAGE_STEP(VexAddInt32, "v", "vpaddd %1, %0, %0");
ULLAGE_STEP(VexAddInt64, "v", "vpaddq %1, %0, %0");
ULLAGE_STEP(VexMultiplyInt16, "v", "vpmullw %1, %0, %0");
ULLAGE_STEP(VexMultiplyInt32, "v", "vpmulld %1, %0, %0");
ULLAGE_STEP(EvexMultiplyInt64, "v", "vpmullq %1, %0, %0");

// Dot products: neighbours of a and b, multiplied and added to an accumulator of 32 bits. The bytes of a are unsigned.
ULLAGE_FUSED_STEP(VexDotInt8, "x", "%{vex%} vpdpbusd %2, %1, %0");
ULLAGE_FUSED_STEP(VexDotInt16, "x", "%{vex%} vpdpwssd %2, %1, %0");
ULLAGE_FUSED_STEP(EvexDotInt8, "v", "vpdpbusd %2, %1, %0");
ULLAGE_FUSED_STEP(EvexDotInt16, "v", "vpdpwssd %2, %1, %0");
ULLAGE_FUSED_STEP(EvexDotBf16, "v", "vdpbf16ps %2, %1, %0");

}  // namespace ullage::compute
