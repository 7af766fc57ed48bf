// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/sample_files.hpp"

#include <algorithm>
#include <cmath>

namespace ullage {
namespace {

constexpr int uniforms = 12;      // their sum has variance 1
constexpr double farthest = 6.0;  // from their mean

/// One draw of a number with mean 0 and standard deviation 1.
double nearly_normal(std::uint64_t key) noexcept {
  double sum = 0;
  for (int i = 0; i < uniforms; ++i) {
    key = mix64(key);
    sum += static_cast<double>(key >> 11U) * 0x1p-53;
  }
  return sum - farthest;
}

}  // namespace

SampleSizes::SampleSizes(const SampleSizeSpec& spec)
    : spec_(spec),
      farthest_(std::min(farthest * static_cast<double>(spec.deviation_bytes),
                         static_cast<double>(spec.mean_bytes) * 15 / 16)),
      largest_(in_units(static_cast<double>(spec.mean_bytes) + farthest_)) {}

std::uint64_t SampleSizes::in_units(double bytes) const noexcept {
  const double units = std::floor(bytes / static_cast<double>(spec_.unit_bytes) + 0.5);
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(units), 1) * spec_.unit_bytes;
}

std::uint64_t SampleSizes::bytes(std::uint64_t sample) const noexcept {
  const auto mean = static_cast<double>(spec_.mean_bytes);
  if (alike()) return in_units(mean);
  std::uint64_t key = mix64(mix64(spec_.seed) ^ sample);
  while (true) {
    const double away = static_cast<double>(spec_.deviation_bytes) * nearly_normal(key);
    if (std::abs(away) <= farthest_) return in_units(mean + away);
    key = mix64(~key);
  }
}

Count SampleSizes::most_bytes(std::uint64_t samples) const noexcept {
  const Count most = Count(samples) * largest_;
  if (alike()) return most;
  constexpr double sure = 6;  // standard deviations of the sum
  const auto count = static_cast<double>(samples);
  const double mean = static_cast<double>(spec_.mean_bytes + spec_.unit_bytes) * count;
  const double bound = mean + sure * static_cast<double>(spec_.deviation_bytes) * std::sqrt(count);
  return bound < 1e19 ? std::min(most, Count(static_cast<std::uint64_t>(bound))) : most;
}

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

namespace {

/// The group that node `node` of `nodes` > 1 reads: never its own.
std::uint64_t group_read(std::uint64_t node, std::uint64_t nodes, std::uint64_t epoch) noexcept {
  return (node + 1 + epoch % (nodes - 1)) % nodes;
}

std::uint64_t group_of_accelerator(const SampleFiles& files, const SampleReaders& readers, std::uint64_t accelerator,
                                   std::uint64_t epoch) noexcept {
  if (!readers.by_node) return 0;
  const std::uint64_t nodes = files.spec().groups;
  return group_read(accelerator / (readers.accelerators / nodes), nodes, epoch);
}

}  // namespace

SampleOrder::SampleOrder(const SampleFiles& files, const SampleReaders& readers, std::uint64_t accelerator,
                         std::uint64_t epoch)
    : files_(&files),
      group_(group_of_accelerator(files, readers, accelerator, epoch)),
      by_node_(readers.by_node),
      among_(by_node_ ? readers.accelerators / files.spec().groups : readers.accelerators),
      place_(accelerator % among_),
      shuffle_(by_node_ ? files.samples_of_group(group_, readers.samples) : readers.samples,
               mix64(mix64(readers.seed) ^ mix64(epoch + 1)) + group_),
      count_(shuffle_.size() / among_ + (place_ < shuffle_.size() % among_ ? 1 : 0)) {}

std::uint64_t SampleOrder::operator()(std::uint64_t index) const noexcept {
  const std::uint64_t drawn = shuffle_(index * among_ + place_);
  return by_node_ ? files_->sample_of_group(group_, drawn) : drawn;
}

}  // namespace ullage
