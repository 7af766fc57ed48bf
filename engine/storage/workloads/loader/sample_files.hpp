// SPDX-License-Identifier: Apache-2.0
// Which file holds which sample, and which node has written it. Pure, O(1) memory.
#pragma once

#include <cstdint>

#include "storage/workloads/loader/sample_sizes.hpp"

namespace ullage {

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

}  // namespace ullage
