// SPDX-License-Identifier: Apache-2.0
// What the offset of a call costs: every spatial pattern of workload `pio` on few and on many ranks, ns a piece.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iterator>

#include "storage/workloads/pio/pattern.hpp"

int main() {
  const char* const names[] = {"simple strided", "nested strided", "random strided", "sequential shared",
                               "sequential own", "segmented",      "tiled",          "flash",
                               "mesh, unsorted"};
  std::uint64_t kept = 0;
  for (std::size_t kind = 0; kind < std::size(names); ++kind) {
    std::printf("| %s", names[kind]);
    for (const std::uint64_t ranks : {1, 64, 4096}) {
      ullage::PioShape shape;
      shape.kind = static_cast<ullage::PioKind>(kind);
      shape.ranks = ranks;
      shape.requests = 24 * 1024;
      shape.sorted = false;
      const ullage::PioPattern pattern(shape, ranks / 2);
      const std::uint64_t pieces = pattern.pieces() < 2000000 ? pattern.pieces() : 2000000;
      const auto start = std::chrono::steady_clock::now();
      std::uint64_t done = 0;
      for (; done < 2000000; done += pieces)
        for (std::uint64_t i = 0; i < pieces; ++i) {
          const ullage::PioPiece piece = pattern.piece(i);
          kept += piece.offset_bytes + piece.length_bytes;
        }
      const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
      std::printf(" | %.1f", took.count() / static_cast<double>(done));
    }
    std::printf(" |\n");
  }
  return kept == 1 ? 1 : 0;
}
