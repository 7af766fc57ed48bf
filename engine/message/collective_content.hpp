// SPDX-License-Identifier: Apache-2.0
// What ranks give to a collective operation, and what each must have afterwards. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.hpp"
#include "mpi/collectives.hpp"

namespace ullage {

/// Words that nobody else's content has, for moved data; small whole numbers, whose sums are exact, for reductions.
class CollectiveContent final {
 public:
  CollectiveContent(const mpi::CollectiveShape& shape, int rank, int ranks, std::uint64_t key);

  /// Writes what this rank gives, in a buffer of room_of().out bytes.
  void fill(std::span<std::byte> out) const;
  /// Nothing a right result could be.
  static void poison(std::span<std::byte> in);
  /// Bytes of `in` that the operation has set on this rank when `root` was the root.
  [[nodiscard]] std::size_t expected_bytes(int root) const;
  /// Checks whether they are what it must have set.
  [[nodiscard]] Status check(std::span<const std::byte> in, int root) const;

 private:
  [[nodiscard]] std::uint64_t seed_of(int from, int to) const;
  [[nodiscard]] std::optional<std::size_t> wrong_moved(std::span<const std::byte> in, int root) const;
  template <class Number>
  [[nodiscard]] std::optional<std::size_t> wrong_sums(std::span<const std::byte> in) const;
  template <class Number>
  void fill_numbers(std::span<std::byte> out) const;
  [[nodiscard]] mpi::ElementShare elements() const;

  mpi::CollectiveShape shape_;
  int rank_;
  int ranks_;
  std::uint64_t key_;
};

}  // namespace ullage
