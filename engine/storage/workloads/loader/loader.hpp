// SPDX-License-Identifier: Apache-2.0
// The words of workload `loader`.
#pragma once

#include "storage/workloads/loader/sample_files.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

enum class LoaderData { make, use, none };

/// Has the paces of MLPerf Storage's cosmoflow, but for the numbers of samples.
struct LoaderParameters {
  LoaderData data = LoaderData::make;
  std::uint64_t samples = 1024;
  std::uint64_t samples_per_file = 1;
  std::uint64_t sample_bytes = 2828486;
  std::uint64_t deviation_bytes = 71311;
  std::uint64_t unit_bytes = 8;
  std::uint64_t epochs = 2;
  std::uint64_t read_samples = 0;
  std::uint64_t accelerators = 0;
  std::uint64_t batch = 1;
  double step_s = 0.0035;
  std::uint64_t threads = 4;
  std::uint64_t ahead = 2;
  std::uint64_t transfer_bytes = std::uint64_t{1} << 20;
  AdviseCache cache = AdviseCache::advise;
  Verify verify = Verify::kept;
  std::uint64_t seed = 1;

  static constexpr std::uint64_t most_threads = 256;
  static constexpr std::uint64_t most_ahead = 1024;

  [[nodiscard]] static Table<LoaderParameters> table();

  /// `groups`: nodes that write it.
  [[nodiscard]] SampleSetSpec set(std::uint64_t groups) const {
    return {samples, samples_per_file, {sample_bytes, deviation_bytes, unit_bytes, seed}, groups};
  }
  [[nodiscard]] std::uint64_t samples_read() const { return read_samples == 0 ? samples : read_samples; }
  [[nodiscard]] std::uint64_t accelerators_of(std::uint64_t ranks) const {
    return accelerators == 0 ? ranks : accelerators;
  }
  /// Samples of one accelerator that are read or held at once.
  [[nodiscard]] std::uint64_t window() const { return std::max(ahead * batch, 2 * threads); }
};

/// Rules that span parameters, the backend and the layout; the pointer is that of the parameters object.
[[nodiscard]] Status check_loader(const LoaderParameters& parameters, const Capabilities& capabilities,
                                  const PlannedLayout& layout, const std::string& pointer);
[[nodiscard]] Needs needs_of_loader(const LoaderParameters& parameters);

}  // namespace ullage
