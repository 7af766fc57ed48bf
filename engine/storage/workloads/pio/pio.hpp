// SPDX-License-Identifier: Apache-2.0
// The words of workload `pio`: where pieces lie, what is done to them, and which calls do it.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "base/payload.hpp"
#include "base/permutation.hpp"
#include "storage/backend.hpp"
#include "storage/manifest.hpp"
#include "storage/position_contents.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/pio/pattern.hpp"
#include "work/phase_work.hpp"
#include "work/workload.hpp"

namespace ullage {

enum class PioOperation { write, read, reread, rewrite, read_modify_write };
enum class PioThrough { offsets, view };
enum class PioCache { none, advise };
enum class PioVerify { none, kept, full };

struct PioParameters : PioShape {
  std::vector<PioOperation> phases{PioOperation::write, PioOperation::read};
  PioThrough through = PioThrough::offsets;
  bool collective = false;
  std::uint64_t requests_a_call = 1;
  bool sync = true;
  PioCache cache = PioCache::advise;
  PioVerify verify = PioVerify::kept;

  [[nodiscard]] static Table<PioParameters> table();
  [[nodiscard]] PioShape shape(std::uint64_t of_ranks) const;
  /// Pieces that one call moves.
  [[nodiscard]] std::uint64_t pieces_a_call() const {
    return through == PioThrough::view ? requests_a_call * pieces_a_request() : 1;
  }
};

[[nodiscard]] std::string word_of(PioKind kind);
[[nodiscard]] std::string word_of(PioOperation operation);
[[nodiscard]] std::string word_of(PioCache cache);

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
    PayloadSpec spec;
    spec.run_key = mix64(context.run_key ^ generation);
    spec.transfer_bytes = parameters.is_listed() ? position_unit_bytes : unit_bytes;
    return spec;
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
