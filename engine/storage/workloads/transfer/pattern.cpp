// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/transfer/pattern.hpp"

namespace ullage {
namespace {

std::uint64_t transfers_of(const TransferShape& shape) {
  return shape.block_bytes / shape.transfer_bytes * shape.segments;
}

/// Position of the `index`-th visit when every `stride`-th of `count` is visited, then the next residue, and so on.
std::uint64_t strided(std::uint64_t index, std::uint64_t count, std::uint64_t stride) {
  const std::uint64_t longer = count % stride;  // residues with one visit more
  const std::uint64_t visits = count / stride;  // of the others
  const std::uint64_t in_longer = longer * (visits + 1);
  if (index < in_longer) return index / (visits + 1) + index % (visits + 1) * stride;
  const std::uint64_t rest = index - in_longer;
  return longer + rest / visits + rest % visits * stride;
}

}  // namespace

TransferPattern::TransferPattern(const TransferShape& shape, std::uint64_t rank)
    : shape_(shape),
      rank_(rank),
      operations_(transfers_of(shape)),
      permutation_(operations_, mix64(shape.seed) ^ mix64(~rank)) {}

std::uint64_t TransferPattern::visited(std::uint64_t index) const noexcept {
  switch (shape_.order) {
    case Order::sequential:
      return index;
    case Order::random:
      return permutation_(index);
    case Order::backward:
      return operations_ - 1 - index;
    case Order::strided:
      return strided(index, operations_, shape_.stride);
    case Order::repeat:
      return 0;
  }
  return index;
}

std::uint64_t TransferPattern::offset_bytes(std::uint64_t index) const noexcept {
  const std::uint64_t transfers_a_block = shape_.block_bytes / shape_.transfer_bytes;
  const std::uint64_t place = visited(index);
  const std::uint64_t segment = place / transfers_a_block;
  const std::uint64_t inside = place % transfers_a_block * shape_.transfer_bytes;
  if (shape_.file_mode == FileMode::per_process) return segment * shape_.block_bytes + inside;
  return (segment * shape_.ranks + rank_) * shape_.block_bytes + inside;
}

std::uint64_t TransferPattern::file_bytes() const noexcept {
  const std::uint64_t a_rank = shape_.block_bytes * shape_.segments;
  return shape_.file_mode == FileMode::per_process ? a_rank : a_rank * shape_.ranks;
}

}  // namespace ullage
