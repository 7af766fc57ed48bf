// SPDX-License-Identifier: Apache-2.0
// Which samples an accelerator reads in an epoch, and in what order. Pure, O(1) memory.
#pragma once

#include <cstdint>

#include "base/permutation.hpp"
#include "storage/workloads/loader/sample_files.hpp"

namespace ullage {

/// Says who reads: `accelerators` over all nodes, numbered node by node where they read by node.
struct SampleReaders {
  std::uint64_t accelerators = 1;
  std::uint64_t samples = 1;  // the first so many of the set are read
  /// Nodes have equally many accelerators and read what another node has written, another node's in each epoch as far
  /// as there are others. Else all accelerators share all samples.
  bool by_node = false;
  std::uint64_t seed = 1;
};

/// One accelerator's part of one epoch. Over all accelerators every sample is in it once; all are shuffled anew for
/// each epoch by a keyed permutation, and dealt out one by one.
class SampleOrder final {
 public:
  SampleOrder(const SampleFiles& files, const SampleReaders& readers, std::uint64_t accelerator, std::uint64_t epoch);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// The `index`-th, index < count().
  [[nodiscard]] std::uint64_t operator()(std::uint64_t index) const noexcept;

 private:
  const SampleFiles* files_;
  std::uint64_t group_ = 0;  // whose files are read, where that is one node's
  bool by_node_;
  std::uint64_t among_;  // accelerators that share these samples, and which of them this one is
  std::uint64_t place_;
  Permutation shuffle_;
  std::uint64_t count_;
};

}  // namespace ullage
