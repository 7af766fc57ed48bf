// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/sample_order.hpp"

namespace ullage {
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
