// SPDX-License-Identifier: Apache-2.0
// Reads and writes of pieces of a dataset that workload `transfer` has made, as pure functions. No I/O, no clock.
#pragma once

#include <cstdint>

#include "base/permutation.hpp"
#include "base/zipf.hpp"
#include "storage/workloads/transfer/pattern.hpp"

namespace ullage {

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
  MixedTransferPattern(const MixedTransferShape& shape, std::uint64_t rank, std::uint64_t source);
  [[nodiscard]] std::uint64_t positions() const noexcept { return pieces_a_transfer_ * shape_.written_operations; }
  [[nodiscard]] Step at(std::uint64_t index) const noexcept;
  /// The length of the file once every rank has written everything.
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return written_.file_bytes(); }
  /// Everything before this was written, where each rank has a file of its own.
  [[nodiscard]] std::uint64_t transfers_end_bytes() const noexcept;

 private:
  [[nodiscard]] std::uint64_t position(std::uint64_t index) const noexcept;
  [[nodiscard]] bool reads(std::uint64_t index) const noexcept;
  MixedTransferShape shape_;
  TransferPattern written_;
  std::uint64_t pieces_a_transfer_;
  std::uint64_t reads_a_period_;
  std::uint64_t key_;
  Zipf zipf_;
  Permutation scattered_;  // where the hot positions lie: the same for all ranks that work on one source
};

}  // namespace ullage
