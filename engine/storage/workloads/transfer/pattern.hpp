// SPDX-License-Identifier: Apache-2.0
// IOR's data model as pure functions: which offset of which file is operation i of rank r. No I/O, no clock.
#pragma once

#include <cmath>

#include "base/permutation.hpp"
#include "base/std.hpp"
#include "base/zipf.hpp"

namespace ullage {

enum class FileMode { shared, per_process };

/// Position of the `index`-th visit when every `stride`-th of `count` is visited, then the next residue, and so on.
inline std::uint64_t strided(std::uint64_t index, std::uint64_t count, std::uint64_t stride) {
  const std::uint64_t longer = count % stride;  // residues with one visit more
  const std::uint64_t visits = count / stride;  // of the others
  const std::uint64_t in_longer = longer * (visits + 1);
  if (index < in_longer) return index / (visits + 1) + index % (visits + 1) * stride;
  const std::uint64_t rest = index - in_longer;
  return longer + rest / visits + rest % visits * stride;
}

enum class Order { sequential, random, backward, strided, repeat };

struct TransferShape {
  std::uint64_t transfer_bytes = 256 << 10;
  std::uint64_t block_bytes = 1 << 20;  // a multiple of transfer_bytes
  std::uint64_t segments = 1;
  std::uint64_t ranks = 1;
  FileMode file_mode = FileMode::shared;
  Order order = Order::sequential;
  std::uint64_t stride = 2;
  std::uint64_t seed = 1;
};

inline std::uint64_t transfers_of(const TransferShape& shape) {
  return shape.block_bytes / shape.transfer_bytes * shape.segments;
}

/// The transfers of one rank's data, in the order it visits them. Shared file:
/// offset = segment * (ranks * block) + rank * block + j * transfer; per process: segment * block + j * transfer.
/// Random: a permutation of exactly this rank's transfers, full period, O(1) memory, keyed by (seed, rank), so
/// different on each rank. Repeat: the first transfer again and again, as often as there are transfers.
class TransferPattern final {
 public:
  TransferPattern(const TransferShape& shape, std::uint64_t rank)
      : shape_(shape),
        rank_(rank),
        operations_(transfers_of(shape)),
        permutation_(operations_, mix64(shape.seed) ^ mix64(~rank)) {}

  [[nodiscard]] std::uint64_t operations() const noexcept { return operations_; }

  /// Offset in the file of the `index`-th operation, index < operations().
  [[nodiscard]] std::uint64_t offset_bytes(std::uint64_t index) const noexcept {
    const std::uint64_t transfers_a_block = shape_.block_bytes / shape_.transfer_bytes;
    const std::uint64_t place = visited(index);
    const std::uint64_t segment = place / transfers_a_block;
    const std::uint64_t inside = place % transfers_a_block * shape_.transfer_bytes;
    if (shape_.file_mode == FileMode::per_process) return segment * shape_.block_bytes + inside;
    return (segment * shape_.ranks + rank_) * shape_.block_bytes + inside;
  }

  /// Bytes of the file this rank's data is in, once every rank has written.
  [[nodiscard]] std::uint64_t file_bytes() const noexcept {
    const std::uint64_t a_rank = shape_.block_bytes * shape_.segments;
    return shape_.file_mode == FileMode::per_process ? a_rank : a_rank * shape_.ranks;
  }

 private:
  [[nodiscard]] std::uint64_t visited(std::uint64_t index) const noexcept {
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

  TransferShape shape_;
  std::uint64_t rank_;
  std::uint64_t operations_;
  Permutation permutation_;
};

// Reads and writes of pieces of a dataset that workload `transfer` has made, as pure functions. No I/O, no clock.

enum class Pick { random, permutation, zipf };

struct MixedTransferShape {
  TransferShape written;                 // how the dataset was made
  std::uint64_t written_operations = 0;  // of each rank that are there, at least 1
  std::uint64_t transfer_bytes = 4096;   // at most the dataset's own
  Pick pick = Pick::random;
  double zipf_theta = 1;
  double read_share = 1;  // a multiple of 1 / period
  std::uint64_t seed = 1;
};

inline constexpr std::uint64_t of_positions = 0x706f736974696f6e;  // keys of what is drawn apart
inline constexpr std::uint64_t of_order = 0x6f72646572;

/// The operations of `rank` on the data that `source` has written. A position is a piece of one of the dataset's
/// transfers, counted from that transfer's start, so that it never reaches into what was not written; what is left at
/// the end of a transfer that is no whole piece is not used. Picks are random (uniform, with replacement), a
/// permutation (each position once before any is picked again, in another order each time) or zipf, whose hot positions
/// lie scattered over the data. In each `period` of operations exactly read_share are reads, in an order of its own.
class MixedTransferPattern final {
 public:
  static constexpr std::uint64_t period = 1000;
  struct Step {
    bool reads = true;
    std::uint64_t offset_bytes = 0;  // in the file
    [[nodiscard]] bool operator==(const Step&) const = default;
  };

  MixedTransferPattern(const MixedTransferShape& shape, std::uint64_t rank, std::uint64_t source)
      : shape_(shape),
        written_(shape.written, source),
        pieces_a_transfer_(shape.written.transfer_bytes / shape.transfer_bytes),
        reads_a_period_(static_cast<std::uint64_t>(std::llround(shape.read_share * static_cast<double>(period)))),
        key_(mix64(shape.seed) ^ mix64(~rank)),
        zipf_(std::max<std::uint64_t>(positions(), 1), shape.pick == Pick::zipf ? shape.zipf_theta : 0),
        scattered_(positions(), mix64(shape.seed ^ mix64(source))) {}

  [[nodiscard]] std::uint64_t positions() const noexcept { return pieces_a_transfer_ * shape_.written_operations; }

  [[nodiscard]] Step at(std::uint64_t index) const noexcept {
    const std::uint64_t piece = position(index);
    return {reads(index),
            written_.offset_bytes(piece / pieces_a_transfer_) + piece % pieces_a_transfer_ * shape_.transfer_bytes};
  }

  /// The length of the file once every rank has written everything.
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return written_.file_bytes(); }

  /// Everything before this was written, where each rank has a file of its own.
  [[nodiscard]] std::uint64_t transfers_end_bytes() const noexcept {
    return shape_.written_operations * shape_.written.transfer_bytes;
  }

 private:
  [[nodiscard]] std::uint64_t position(std::uint64_t index) const noexcept {
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

  [[nodiscard]] bool reads(std::uint64_t index) const noexcept {
    if (reads_a_period_ == 0 || reads_a_period_ == period) return reads_a_period_ == period;
    return Permutation(period, mix64(key_ ^ of_order) + index / period)(index % period) < reads_a_period_;
  }

  MixedTransferShape shape_;
  TransferPattern written_;
  std::uint64_t pieces_a_transfer_;
  std::uint64_t reads_a_period_;
  std::uint64_t key_;
  Zipf zipf_;
  Permutation scattered_;  // where the hot positions lie: the same for all ranks that work on one source
};

}  // namespace ullage
