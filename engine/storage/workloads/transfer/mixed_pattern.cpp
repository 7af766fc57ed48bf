// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/transfer/mixed_pattern.hpp"

#include <algorithm>
#include <cmath>

namespace ullage {
namespace {

constexpr std::uint64_t of_positions = 0x706f736974696f6e;  // keys of what is drawn apart
constexpr std::uint64_t of_order = 0x6f72646572;

}  // namespace

MixedTransferPattern::MixedTransferPattern(const MixedTransferShape& shape, std::uint64_t rank, std::uint64_t source)
    : shape_(shape),
      written_(shape.written, source),
      pieces_a_transfer_(shape.written.transfer_bytes / shape.transfer_bytes),
      reads_a_period_(static_cast<std::uint64_t>(std::llround(shape.read_share * static_cast<double>(period)))),
      key_(mix64(shape.seed) ^ mix64(~rank)),
      zipf_(std::max<std::uint64_t>(positions(), 1), shape.pick == Pick::zipf ? shape.zipf_theta : 0),
      scattered_(positions(), mix64(shape.seed ^ mix64(source))) {}

std::uint64_t MixedTransferPattern::position(std::uint64_t index) const noexcept {
  const std::uint64_t count = positions();
  switch (shape_.pick) {
    case Pick::random:
      return mix64(mix64(key_ ^ of_positions) + index) % count;  // no position is likelier by more than count / 2^64
    case Pick::permutation:
      return Permutation(count, mix64(key_ ^ of_positions) + index / count)(index % count);
    case Pick::zipf:
      break;
  }
  return scattered_(zipf_(mix64(key_ ^ of_positions) + index));
}

bool MixedTransferPattern::reads(std::uint64_t index) const noexcept {
  if (reads_a_period_ == 0 || reads_a_period_ == period) return reads_a_period_ == period;
  return Permutation(period, mix64(key_ ^ of_order) + index / period)(index % period) < reads_a_period_;
}

MixedTransferPattern::Step MixedTransferPattern::at(std::uint64_t index) const noexcept {
  const std::uint64_t piece = position(index);
  return {reads(index),
          written_.offset_bytes(piece / pieces_a_transfer_) + piece % pieces_a_transfer_ * shape_.transfer_bytes};
}

std::uint64_t MixedTransferPattern::transfers_end_bytes() const noexcept {
  return shape_.written_operations * shape_.written.transfer_bytes;
}

}  // namespace ullage
