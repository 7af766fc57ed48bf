// SPDX-License-Identifier: Apache-2.0
// Which file holds which sample, and which node has written it. Pure, O(1) memory.
#pragma once

#include <cmath>

#include "base/count.hpp"
#include "base/permutation.hpp"
#include "base/std.hpp"

namespace ullage {

// How large the samples of a training set are. Pure, O(1) memory, the same on every CPU.

struct SampleSizeSpec {
  std::uint64_t mean_bytes = 2828486;
  std::uint64_t deviation_bytes = 71311;  // standard deviation; 0: all are alike
  std::uint64_t unit_bytes = 8;           // every size is a multiple of it
  std::uint64_t seed = 1;
  [[nodiscard]] bool operator==(const SampleSizeSpec&) const = default;
};

inline constexpr double farthest_deviation = 6.0;  // from their mean

inline constexpr int uniforms_in_a_sum = 12;  // their sum has variance 1

/// One draw of a number with mean 0 and standard deviation 1.
inline double nearly_normal(std::uint64_t key) noexcept {
  double sum = 0;
  for (int i = 0; i < uniforms_in_a_sum; ++i) {
    key = mix64(key);
    sum += static_cast<double>(key >> 11U) * 0x1p-53;
  }
  return sum - farthest_deviation;
}

/// Normally distributed around the mean, as the sum of 12 uniform numbers is (no library's logarithm is in it). What
/// lies further than 15/16 of the mean away is drawn anew: the mean stays, a deviation near the mean gets smaller.
class SampleSizes final {
 public:
  explicit SampleSizes(const SampleSizeSpec& spec)
      : spec_(spec),
        farthest_(std::min(farthest_deviation * static_cast<double>(spec.deviation_bytes),
                           static_cast<double>(spec.mean_bytes) * 15 / 16)),
        largest_(in_units(static_cast<double>(spec.mean_bytes) + farthest_)) {}

  [[nodiscard]] std::uint64_t bytes(std::uint64_t sample) const noexcept {
    const auto mean = static_cast<double>(spec_.mean_bytes);
    if (alike()) return in_units(mean);
    std::uint64_t key = mix64(mix64(spec_.seed) ^ sample);
    while (true) {
      const double away = static_cast<double>(spec_.deviation_bytes) * nearly_normal(key);
      if (std::abs(away) <= farthest_) return in_units(mean + away);
      key = mix64(~key);
    }
  }

  /// No sample has more.
  [[nodiscard]] std::uint64_t largest() const noexcept { return largest_; }

  /// Returns what so many samples take, exactly where all are alike; else a bound that one set in a billion exceeds.
  [[nodiscard]] Count most_bytes(std::uint64_t samples) const noexcept {
    const Count most = Count(samples) * largest_;
    if (alike()) return most;
    constexpr double sure = 6;  // standard deviations of the sum
    const auto count = static_cast<double>(samples);
    const double mean = static_cast<double>(spec_.mean_bytes + spec_.unit_bytes) * count;
    const double bound = mean + sure * static_cast<double>(spec_.deviation_bytes) * std::sqrt(count);
    return bound < 1e19 ? std::min(most, Count(static_cast<std::uint64_t>(bound))) : most;
  }

  [[nodiscard]] bool alike() const noexcept { return spec_.deviation_bytes == 0; }

 private:
  [[nodiscard]] std::uint64_t in_units(double bytes) const noexcept {
    const double units = std::floor(bytes / static_cast<double>(spec_.unit_bytes) + 0.5);
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(units), 1) * spec_.unit_bytes;
  }

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
  [[nodiscard]] std::uint64_t files_of(std::uint64_t samples) const noexcept {
    return (samples + spec_.samples_per_file - 1) / spec_.samples_per_file;
  }

  [[nodiscard]] std::uint64_t files() const noexcept { return files_of(spec_.samples); }

  /// Adds up the sizes of the samples before it in its file, where they differ.
  [[nodiscard]] SamplePlace place(std::uint64_t sample) const noexcept {
    SamplePlace place{.file = sample / spec_.samples_per_file, .offset_bytes = 0, .bytes = sizes_.bytes(sample)};
    if (sizes_.alike()) {
      place.offset_bytes = sample % spec_.samples_per_file * place.bytes;
      return place;
    }
    for (std::uint64_t before = first_sample(place.file); before < sample; ++before)
      place.offset_bytes += sizes_.bytes(before);
    return place;
  }

  [[nodiscard]] std::uint64_t first_sample(std::uint64_t file) const noexcept { return file * spec_.samples_per_file; }

  [[nodiscard]] std::uint64_t end_sample(std::uint64_t file) const noexcept {
    return std::min(first_sample(file + 1), spec_.samples);
  }

  [[nodiscard]] std::uint64_t file_bytes(std::uint64_t file) const noexcept {
    const SamplePlace last = place(end_sample(file) - 1);
    return last.offset_bytes + last.bytes;
  }

  [[nodiscard]] std::uint64_t group_of(std::uint64_t sample) const noexcept {
    return sample / spec_.samples_per_file % spec_.groups;
  }

  /// Returns how many of the first `samples` are in files of this group; the k-th of them.
  [[nodiscard]] std::uint64_t samples_of_group(std::uint64_t group, std::uint64_t samples) const noexcept {
    const std::uint64_t files = files_of(samples);
    if (group >= files) return 0;
    const std::uint64_t own = (files - group - 1) / spec_.groups + 1;
    const bool has_last = (files - 1) % spec_.groups == group;
    const std::uint64_t lacking = files * spec_.samples_per_file - samples;
    return own * spec_.samples_per_file - (has_last ? lacking : 0);
  }

  [[nodiscard]] std::uint64_t sample_of_group(std::uint64_t group, std::uint64_t k) const noexcept {
    const std::uint64_t file = k / spec_.samples_per_file * spec_.groups + group;
    return first_sample(file) + k % spec_.samples_per_file;
  }

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

/// The group that node `node` of `nodes` > 1 reads: never its own.
inline std::uint64_t group_read(std::uint64_t node, std::uint64_t nodes, std::uint64_t epoch) noexcept {
  return (node + 1 + epoch % (nodes - 1)) % nodes;
}

inline std::uint64_t group_of_accelerator(const SampleFiles& files, const SampleReaders& readers,
                                          std::uint64_t accelerator, std::uint64_t epoch) noexcept {
  if (!readers.by_node) return 0;
  const std::uint64_t nodes = files.spec().groups;
  return group_read(accelerator / (readers.accelerators / nodes), nodes, epoch);
}

/// One accelerator's part of one epoch. Over all accelerators every sample is in it once; all are shuffled anew for
/// each epoch by a keyed permutation, and dealt out one by one.
class SampleOrder final {
 public:
  SampleOrder(const SampleFiles& files, const SampleReaders& readers, std::uint64_t accelerator, std::uint64_t epoch)
      : files_(&files),
        group_(group_of_accelerator(files, readers, accelerator, epoch)),
        by_node_(readers.by_node),
        among_(by_node_ ? readers.accelerators / files.spec().groups : readers.accelerators),
        place_(accelerator % among_),
        shuffle_(by_node_ ? files.samples_of_group(group_, readers.samples) : readers.samples,
                 mix64(mix64(readers.seed) ^ mix64(epoch + 1)) + group_),
        count_(shuffle_.size() / among_ + (place_ < shuffle_.size() % among_ ? 1 : 0)) {}

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

  /// The `index`-th, index < count().
  [[nodiscard]] std::uint64_t operator()(std::uint64_t index) const noexcept {
    const std::uint64_t drawn = shuffle_(index * among_ + place_);
    return by_node_ ? files_->sample_of_group(group_, drawn) : drawn;
  }

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
