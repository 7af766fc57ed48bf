// SPDX-License-Identifier: Apache-2.0
// The words of workload `pio`: where pieces lie, what is done to them, and which calls do it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "storage/backend.hpp"
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

  [[nodiscard]] static const Table<PioParameters>& table();
  [[nodiscard]] PioShape shape(std::uint64_t of_ranks) const;
  /// Pieces that one call moves.
  [[nodiscard]] std::uint64_t pieces_a_call() const {
    return through == PioThrough::view ? requests_a_call * pieces_a_request() : 1;
  }
};

/// Rules that span parameters, the backend and the layout; the pointer is that of the parameters object.
[[nodiscard]] Status check_pio(const PioParameters& parameters, const Capabilities& capabilities,
                               const PlannedLayout& layout, const std::string& pointer);
[[nodiscard]] Needs needs_of_pio(const PioParameters& parameters, const PlannedLayout& layout);

[[nodiscard]] std::string word_of(PioKind kind);
[[nodiscard]] std::string word_of(PioOperation operation);
[[nodiscard]] std::string word_of(PioCache cache);

}  // namespace ullage
