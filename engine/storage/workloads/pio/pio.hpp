// SPDX-License-Identifier: Apache-2.0
// The words of workload `pio`: where pieces lie, what is done to them, and which calls do it.
#pragma once

#include <cstring>

#include "base/permutation.hpp"
#include "storage/position_contents.hpp"
#include "storage/workloads/pio/pattern.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

[[nodiscard]] inline Words<PioKind> words_of(PioKind) {
  return {{PioKind::simple_strided, "simple-strided"},
          {PioKind::nested_strided, "nested-strided"},
          {PioKind::random_strided, "random-strided"},
          {PioKind::sequential_shared, "sequential-shared"},
          {PioKind::sequential_own, "sequential-own"},
          {PioKind::segmented, "segmented"},
          {PioKind::tiled, "tiled"},
          {PioKind::flash, "flash"},
          {PioKind::mesh, "mesh"},
          {PioKind::listed, "listed"},
          {PioKind::listed_own, "listed-own"}};
}

enum class PioOperation { write, read, reread, rewrite, read_modify_write };
[[nodiscard]] inline Words<PioOperation> words_of(PioOperation) {
  return {{PioOperation::write, "write"},
          {PioOperation::read, "read"},
          {PioOperation::reread, "reread"},
          {PioOperation::rewrite, "rewrite"},
          {PioOperation::read_modify_write, "read-modify-write"}};
}
enum class PioThrough { offsets, view };

struct PioParameters : PioShape {
  std::vector<PioOperation> phases{PioOperation::write, PioOperation::read};
  PioThrough through = PioThrough::offsets;
  bool collective = false;
  std::uint64_t requests_a_call = 1;
  bool sync = true;
  AdviseCache cache = AdviseCache::advise;
  Verify verify = Verify::kept;

  [[nodiscard]] static Table<PioParameters> table();
  [[nodiscard]] PioShape shape(std::uint64_t of_ranks) const;
  /// Pieces that one call moves.
  [[nodiscard]] std::uint64_t pieces_a_call() const {
    return through == PioThrough::view ? requests_a_call * pieces_a_request() : 1;
  }
};

/// Holds what the phases of a repetition share on this rank.
struct PioState {
  PioParameters parameters;
  StorageContext context;
  DatasetEntry entry;
  Capabilities capabilities;
  std::uint64_t generation = 0;  // of the data: +1 with each phase that makes it anew
  std::uint64_t changes = 0;     // what read-modify-write has done to the first word of each 512 bytes, by exclusive or

  [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(context.world->size()); }
  [[nodiscard]] std::uint64_t rank() const { return static_cast<std::uint64_t>(context.world->rank()); }
  [[nodiscard]] std::string file_name() const { return entry.file_name(entry.per_process ? rank() : 0); }

  [[nodiscard]] PayloadSpec payload_spec(std::uint64_t unit_bytes) const {
    return {.run_key = mix64(context.run_key ^ generation),
            .transfer_bytes = parameters.is_listed() ? position_unit_bytes : unit_bytes};
  }
};

inline constexpr std::size_t changed_every = 512;  // as the payload's tags stand

/// Makes the read data of a piece other data, and back again.
inline void change_pio_data(std::span<std::byte> piece, std::uint64_t change) {
  for (std::size_t at = 0; at < piece.size(); at += changed_every) {
    std::uint64_t word = 0;
    std::memcpy(&word, piece.data() + at, sizeof word);
    word ^= change;
    std::memcpy(piece.data() + at, &word, sizeof word);
  }
}

inline constexpr std::uint64_t most_pio_calls = 1024;  // of a batch
/// Of a rank's data, which `verify` kept looks at.
inline constexpr std::uint64_t pio_kept_bytes = std::uint64_t{16} << 20;

}  // namespace ullage
