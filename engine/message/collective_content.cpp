// SPDX-License-Identifier: Apache-2.0
#include "message/collective_content.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/permutation.hpp"

namespace ullage {
namespace {

using mpi::Collective;

/// No block has as destination what everybody gets.
constexpr int everybody = -1;
/// Summands below it, from the place and from the rank: sums of a million ranks are exact in fp32, too.
constexpr std::uint64_t summand_range = 8;
constexpr std::byte poison_byte{0xa5};

std::uint64_t word_at(std::uint64_t seed, std::size_t index) { return mix64(seed + index); }

void fill_words(std::span<std::byte> out, std::uint64_t seed) {
  for (std::size_t place = 0; place < out.size(); place += sizeof(std::uint64_t)) {
    const std::uint64_t word = word_at(seed, place / sizeof(word));
    std::memcpy(out.data() + place, &word, std::min(sizeof(word), out.size() - place));
  }
}

/// Returns whether each rank gets what no other gets.
bool has_blocks_of_each(Collective collective) {
  return collective == Collective::alltoall || collective == Collective::alltoallv || collective == Collective::scatter;
}

/// Returns where they differ first.
std::optional<std::size_t> wrong_words(std::span<const std::byte> in, std::uint64_t seed) {
  for (std::size_t place = 0; place < in.size(); place += sizeof(std::uint64_t)) {
    const std::uint64_t word = word_at(seed, place / sizeof(word));
    if (std::memcmp(in.data() + place, &word, std::min(sizeof(word), in.size() - place)) != 0) return place;
  }
  return std::nullopt;
}

std::uint64_t of_place(std::size_t index, std::uint64_t key) { return 1 + (index + key) % summand_range; }
std::uint64_t of_rank(int rank) { return static_cast<std::uint64_t>(rank) % summand_range; }

}  // namespace

CollectiveContent::CollectiveContent(const mpi::CollectiveShape& shape, int rank, int ranks, std::uint64_t key)
    : shape_(shape), rank_(rank), ranks_(ranks), key_(key) {}

std::uint64_t CollectiveContent::seed_of(int from, int to) const {
  return mix64(mix64(key_ ^ static_cast<std::uint64_t>(from)) + static_cast<std::uint64_t>(to - everybody));
}

void CollectiveContent::fill(std::span<std::byte> out) const {
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

template <class Number>
void CollectiveContent::fill_numbers(std::span<std::byte> out) const {
  for (std::size_t i = 0; i < out.size() / sizeof(Number); ++i) {
    const auto number = static_cast<Number>(of_place(i, key_) + of_rank(rank_));
    std::memcpy(out.data() + i * sizeof(Number), &number, sizeof(Number));
  }
}

void CollectiveContent::poison(std::span<std::byte> in) { std::ranges::fill(in, poison_byte); }

std::size_t CollectiveContent::expected_bytes(int root) const {
  switch (shape_.collective) {
    case Collective::barrier:
      return 0;
    case Collective::bcast:
      return rank_ == root ? 0 : shape_.message_bytes;
    case Collective::reduce:
    case Collective::gather:
      if (rank_ != root) return 0;
      break;
    default:
      break;
  }
  if (mpi::reduces(shape_.collective)) return elements().count * mpi::bytes_of(shape_.element);
  return mpi::room_of(shape_, ranks_).in;
}

/// Those of the sum that this rank gets, where it gets any.
mpi::ElementShare CollectiveContent::elements() const {
  const std::size_t all = shape_.message_bytes / mpi::bytes_of(shape_.element);
  return shape_.collective == Collective::reduce_scatter ? mpi::share_of(all, rank_, ranks_)
                                                         : mpi::ElementShare{0, all};
}

Status CollectiveContent::check(std::span<const std::byte> in, int root) const {
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

/// A block from each rank, or all of it from the root.
std::optional<std::size_t> CollectiveContent::wrong_moved(std::span<const std::byte> in, int root) const {
  const int to = has_blocks_of_each(shape_.collective) ? rank_ : everybody;
  if (shape_.collective == Collective::bcast || shape_.collective == Collective::scatter)
    return wrong_words(in, seed_of(root, to));
  const std::size_t block = shape_.message_bytes;
  for (int from = 0; from < ranks_ && !in.empty(); ++from) {
    const std::size_t place = static_cast<std::size_t>(from) * block;
    if (const auto wrong = wrong_words(in.subspan(place, block), seed_of(from, to))) return place + *wrong;
  }
  return std::nullopt;
}

template <class Number>
std::optional<std::size_t> CollectiveContent::wrong_sums(std::span<const std::byte> in) const {
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

}  // namespace ullage
