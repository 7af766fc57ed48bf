// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/sample_files.hpp"

#include <algorithm>

namespace ullage {

std::uint64_t SampleFiles::files_of(std::uint64_t samples) const noexcept {
  return (samples + spec_.samples_per_file - 1) / spec_.samples_per_file;
}

SamplePlace SampleFiles::place(std::uint64_t sample) const noexcept {
  SamplePlace place{.file = sample / spec_.samples_per_file, .offset_bytes = 0, .bytes = sizes_.bytes(sample)};
  if (sizes_.alike()) {
    place.offset_bytes = sample % spec_.samples_per_file * place.bytes;
    return place;
  }
  for (std::uint64_t before = first_sample(place.file); before < sample; ++before)
    place.offset_bytes += sizes_.bytes(before);
  return place;
}

std::uint64_t SampleFiles::end_sample(std::uint64_t file) const noexcept {
  return std::min(first_sample(file + 1), spec_.samples);
}

std::uint64_t SampleFiles::file_bytes(std::uint64_t file) const noexcept {
  const SamplePlace last = place(end_sample(file) - 1);
  return last.offset_bytes + last.bytes;
}

std::uint64_t SampleFiles::samples_of_group(std::uint64_t group, std::uint64_t samples) const noexcept {
  const std::uint64_t files = files_of(samples);
  if (group >= files) return 0;
  const std::uint64_t own = (files - group - 1) / spec_.groups + 1;
  const bool has_last = (files - 1) % spec_.groups == group;
  const std::uint64_t lacking = files * spec_.samples_per_file - samples;
  return own * spec_.samples_per_file - (has_last ? lacking : 0);
}

std::uint64_t SampleFiles::sample_of_group(std::uint64_t group, std::uint64_t k) const noexcept {
  const std::uint64_t file = k / spec_.samples_per_file * spec_.groups + group;
  return first_sample(file) + k % spec_.samples_per_file;
}

}  // namespace ullage
