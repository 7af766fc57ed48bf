// SPDX-License-Identifier: Apache-2.0
// What ranks give to a collective operation, and what each must have afterwards. Pure.
#pragma once

#include <cstring>

#include "base/permutation.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "mpi/collectives.hpp"

namespace ullage {

/// No block has as destination what everybody gets.
inline constexpr int everybody = -1;
inline constexpr std::byte poison_byte{0xa5};

inline std::uint64_t word_at(std::uint64_t seed, std::size_t index) { return mix64(seed + index); }

inline void fill_words(std::span<std::byte> out, std::uint64_t seed) {
  for (std::size_t place = 0; place < out.size(); place += sizeof(std::uint64_t)) {
    const std::uint64_t word = word_at(seed, place / sizeof(word));
    std::memcpy(out.data() + place, &word, std::min(sizeof(word), out.size() - place));
  }
}

/// Returns whether each rank gets what no other gets.
inline bool has_blocks_of_each(mpi::Collective collective) {
  return collective == mpi::Collective::alltoall || collective == mpi::Collective::alltoallv ||
         collective == mpi::Collective::scatter;
}

/// Returns where they differ first.
inline std::optional<std::size_t> wrong_words(std::span<const std::byte> in, std::uint64_t seed) {
  for (std::size_t place = 0; place < in.size(); place += sizeof(std::uint64_t)) {
    const std::uint64_t word = word_at(seed, place / sizeof(word));
    if (std::memcmp(in.data() + place, &word, std::min(sizeof(word), in.size() - place)) != 0) return place;
  }
  return std::nullopt;
}

/// Summands below it, from the place and from the rank: sums of a million ranks are exact in fp32, too.
inline constexpr std::uint64_t summand_range = 8;

inline std::uint64_t of_place(std::size_t index, std::uint64_t key) { return 1 + (index + key) % summand_range; }
inline std::uint64_t of_rank(int rank) { return static_cast<std::uint64_t>(rank) % summand_range; }

/// Words that nobody else's content has, for moved data; small whole numbers, whose sums are exact, for reductions.
class CollectiveContent final {
 public:
  CollectiveContent(const mpi::CollectiveShape& shape, int rank, int ranks, std::uint64_t key)
      : shape_(shape), rank_(rank), ranks_(ranks), key_(key) {}

  /// Writes what this rank gives, in a buffer of room_of().out bytes.
  void fill(std::span<std::byte> out) const {
    if (mpi::reduces(shape_.collective)) {
      if (shape_.element == mpi::Element::fp32)
        fill_numbers<float>(out);
      else
        fill_numbers<double>(out);
      return;
    }
    if (!has_blocks_of_each(shape_.collective)) return fill_words(out, seed_of(rank_, everybody));
    const std::size_t block = shape_.message_bytes;
    for (int to = 0; to < ranks_; ++to)
      fill_words(out.subspan(static_cast<std::size_t>(to) * block, block), seed_of(rank_, to));
  }

  /// Nothing a right result could be.
  static void poison(std::span<std::byte> in) { std::ranges::fill(in, poison_byte); }

  /// Bytes of `in` that the operation has set on this rank when `root` was the root.
  [[nodiscard]] std::size_t expected_bytes(int root) const {
    switch (shape_.collective) {
      case mpi::Collective::barrier:
        return 0;
      case mpi::Collective::bcast:
        return rank_ == root ? 0 : shape_.message_bytes;
      case mpi::Collective::reduce:
      case mpi::Collective::gather:
        if (rank_ != root) return 0;
        break;
      default:
        break;
    }
    if (mpi::reduces(shape_.collective)) return elements().count * mpi::bytes_of(shape_.element);
    return mpi::room_of(shape_, ranks_).in;
  }

  /// Checks whether they are what it must have set.
  [[nodiscard]] Status check(std::span<const std::byte> in, int root) const {
    const std::span<const std::byte> set = in.first(expected_bytes(root));
    std::optional<std::size_t> wrong;
    if (!mpi::reduces(shape_.collective))
      wrong = wrong_moved(set, root);
    else if (shape_.element == mpi::Element::fp32)
      wrong = wrong_sums<float>(set);
    else
      wrong = wrong_sums<double>(set);
    if (!wrong) return {};
    Error error = verification_error("verify", "rank " + std::to_string(rank_), "the operation gave a wrong result");
    error.offset_bytes = wrong;
    return fail(std::move(error));
  }

 private:
  [[nodiscard]] std::uint64_t seed_of(int from, int to) const {
    return mix64(mix64(key_ ^ static_cast<std::uint64_t>(from)) + static_cast<std::uint64_t>(to - everybody));
  }

  /// A block from each rank, or all of it from the root.
  [[nodiscard]] std::optional<std::size_t> wrong_moved(std::span<const std::byte> in, int root) const {
    const int to = has_blocks_of_each(shape_.collective) ? rank_ : everybody;
    if (shape_.collective == mpi::Collective::bcast || shape_.collective == mpi::Collective::scatter)
      return wrong_words(in, seed_of(root, to));
    const std::size_t block = shape_.message_bytes;
    for (int from = 0; from < ranks_ && !in.empty(); ++from) {
      const std::size_t place = static_cast<std::size_t>(from) * block;
      if (const auto wrong = wrong_words(in.subspan(place, block), seed_of(from, to))) return place + *wrong;
    }
    return std::nullopt;
  }

  template <class Number>
  [[nodiscard]] std::optional<std::size_t> wrong_sums(std::span<const std::byte> in) const {
    std::uint64_t of_ranks = 0;
    for (int rank = 0; rank < ranks_; ++rank) of_ranks += of_rank(rank);
    const std::size_t first = elements().first;
    for (std::size_t i = 0; i < in.size() / sizeof(Number); ++i) {
      const auto expected =
          static_cast<Number>(static_cast<std::uint64_t>(ranks_) * of_place(first + i, key_) + of_ranks);
      Number found{};
      std::memcpy(&found, in.data() + i * sizeof(Number), sizeof(Number));
      if (found != expected) return i * sizeof(Number);
    }
    return std::nullopt;
  }

  template <class Number>
  void fill_numbers(std::span<std::byte> out) const {
    for (std::size_t i = 0; i < out.size() / sizeof(Number); ++i) {
      const auto number = static_cast<Number>(of_place(i, key_) + of_rank(rank_));
      std::memcpy(out.data() + i * sizeof(Number), &number, sizeof(Number));
    }
  }

  /// Those of the sum that this rank gets, where it gets any.
  [[nodiscard]] mpi::ElementShare elements() const {
    const std::size_t all = shape_.message_bytes / mpi::bytes_of(shape_.element);
    return shape_.collective == mpi::Collective::reduce_scatter ? mpi::share_of(all, rank_, ranks_)
                                                                : mpi::ElementShare{0, all};
  }

  mpi::CollectiveShape shape_;
  int rank_;
  int ranks_;
  std::uint64_t key_;
};

}  // namespace ullage
