// SPDX-License-Identifier: Apache-2.0
// Which file holds which sample, and which node has written it. Pure, O(1) memory.
#pragma once

#include <cstdint>

#include "base/count.hpp"
#include "base/permutation.hpp"

namespace ullage {

// How large the samples of a training set are. Pure, O(1) memory, the same on every CPU.

struct SampleSizeSpec {
  std::uint64_t mean_bytes = 2828486;
  std::uint64_t deviation_bytes = 71311;  // standard deviation; 0: all are alike
  std::uint64_t unit_bytes = 8;           // every size is a multiple of it
  std::uint64_t seed = 1;
  [[nodiscard]] bool operator==(const SampleSizeSpec&) const = default;
};

/// Normally distributed around the mean, as the sum of 12 uniform numbers is (no library's logarithm is in it). What
/// lies further than 15/16 of the mean away is drawn anew: the mean stays, a deviation near the mean gets smaller.
class SampleSizes final {
 public:
  explicit SampleSizes(const SampleSizeSpec& spec);

  [[nodiscard]] std::uint64_t bytes(std::uint64_t sample) const noexcept;
  /// No sample has more.
  [[nodiscard]] std::uint64_t largest() const noexcept { return largest_; }
  /// Returns what so many samples take, exactly where all are alike; else a bound that one set in a billion exceeds.
  [[nodiscard]] Count most_bytes(std::uint64_t samples) const noexcept;
  [[nodiscard]] bool alike() const noexcept { return spec_.deviation_bytes == 0; }

 private:
  [[nodiscard]] std::uint64_t in_units(double bytes) const noexcept;

  SampleSizeSpec spec_;
  double farthest_;
  std::uint64_t largest_;
};

struct SampleSetSpec {
  std::uint64_t samples = 1;
  std::uint64_t samples_per_file = 1;
  SampleSizeSpec sizes = {};
  std::uint64_t groups = 1;  // nodes that have written it: file f is of group f modulo this
  [[nodiscard]] bool operator==(const SampleSetSpec&) const = default;
};

struct SamplePlace {
  std::uint64_t file = 0;
  std::uint64_t offset_bytes = 0;
  std::uint64_t bytes = 0;
};

/// Samples lie in files in their order, one behind the other; the last file may have fewer than the others.
class SampleFiles final {
 public:
  explicit SampleFiles(const SampleSetSpec& spec) : spec_(spec), sizes_(spec.sizes) {}

  [[nodiscard]] const SampleSetSpec& spec() const noexcept { return spec_; }
  [[nodiscard]] const SampleSizes& sizes() const noexcept { return sizes_; }
  /// Files of the first `samples`; of all.
  [[nodiscard]] std::uint64_t files_of(std::uint64_t samples) const noexcept;
  [[nodiscard]] std::uint64_t files() const noexcept { return files_of(spec_.samples); }
  /// Adds up the sizes of the samples before it in its file, where they differ.
  [[nodiscard]] SamplePlace place(std::uint64_t sample) const noexcept;
  [[nodiscard]] std::uint64_t first_sample(std::uint64_t file) const noexcept { return file * spec_.samples_per_file; }
  [[nodiscard]] std::uint64_t end_sample(std::uint64_t file) const noexcept;
  [[nodiscard]] std::uint64_t file_bytes(std::uint64_t file) const noexcept;

  [[nodiscard]] std::uint64_t group_of(std::uint64_t sample) const noexcept {
    return sample / spec_.samples_per_file % spec_.groups;
  }
  /// Returns how many of the first `samples` are in files of this group; the k-th of them.
  [[nodiscard]] std::uint64_t samples_of_group(std::uint64_t group, std::uint64_t samples) const noexcept;
  [[nodiscard]] std::uint64_t sample_of_group(std::uint64_t group, std::uint64_t k) const noexcept;

 private:
  SampleSetSpec spec_;
  SampleSizes sizes_;
};

// Which samples an accelerator reads in an epoch, and in what order. Pure, O(1) memory.

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
