// SPDX-License-Identifier: Apache-2.0
// IOR's data model as pure functions: which offset of which file is operation i of rank r. No I/O, no clock.
#pragma once

#include <cstdint>

#include "base/permutation.hpp"

namespace ullage {

enum class FileMode { shared, per_process };
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

/// The transfers of one rank's data, in the order it visits them. Shared file:
/// offset = segment * (ranks * block) + rank * block + j * transfer; per process: segment * block + j * transfer.
/// Random: a permutation of exactly this rank's transfers, full period, O(1) memory, keyed by (seed, rank), so
/// different on each rank. Repeat: the first transfer again and again, as often as there are transfers.
class TransferPattern final {
 public:
  TransferPattern(const TransferShape& shape, std::uint64_t rank);
  [[nodiscard]] std::uint64_t operations() const noexcept { return operations_; }
  /// Offset in the file of the `index`-th operation, index < operations().
  [[nodiscard]] std::uint64_t offset_bytes(std::uint64_t index) const noexcept;
  /// Bytes of the file this rank's data is in, once every rank has written.
  [[nodiscard]] std::uint64_t file_bytes() const noexcept;

 private:
  [[nodiscard]] std::uint64_t visited(std::uint64_t index) const noexcept;
  TransferShape shape_;
  std::uint64_t rank_;
  std::uint64_t operations_;
  Permutation permutation_;
};

}  // namespace ullage
