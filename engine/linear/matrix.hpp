// SPDX-License-Identifier: Apache-2.0
// A large matrix of numbers that can be made again.
#pragma once

#include "base/permutation.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "base/workers.hpp"
#include "linear/blas.hpp"
#include "memory/pages.hpp"

namespace ullage {

/// Evenly spread over [-0.5, 0.5), as HPL's elements are: number `index` of the stream `seed`.
[[nodiscard]] constexpr double uniform_element(std::uint64_t seed, std::uint64_t index) noexcept {
  constexpr double unit = 0x1p-53;
  return static_cast<double>(mix64(mix64(seed) + index) >> 11U) * unit - 0.5;
}

/// Column-major, in pages of its own, huge ones where the system gives them. Not filled: nobody has touched it.
template <class T>
class Matrix final {
 public:
  [[nodiscard]] static Result<Matrix> make(int rows, int columns) {
    auto region =
        Region::map(sizeof(T) * static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns), Pages::huge);
    if (!region) return fail(region.error());
    return Matrix(std::move(*region), rows, columns);
  }
  [[nodiscard]] Block<T> all() const { return {reinterpret_cast<T*>(region_.bytes().data()), rows_, columns_, rows_}; }
  [[nodiscard]] const Region& region() const { return region_; }

 private:
  Matrix(Region region, int rows, int columns) : region_(std::move(region)), rows_(rows), columns_(columns) {}

  Region region_;
  int rows_ = 0;
  int columns_ = 0;
};

/// Parts are made of whole pages of the largest usual size, so that no two threads touch one first.
inline constexpr std::uint64_t filled_part_bytes = std::uint64_t{2} << 20U;

template <class T>
Status fill_part(const Matrix<T>& matrix, std::uint64_t seed, std::uint64_t begin, std::uint64_t end) {
  const auto memory = matrix.region().bytes().subspan(begin * sizeof(T), (end - begin) * sizeof(T));
  if (Status touched = matrix.region().touch(memory); !touched) return touched;
  T* elements = matrix.all().data;
  for (std::uint64_t i = begin; i < end; ++i) elements[i] = static_cast<T>(uniform_element(seed, i));
  return {};
}

template <class T>
Status fill(const Matrix<T>& matrix, std::uint64_t seed, int threads) {
  const Block<T> all = matrix.all();
  const std::uint64_t elements = static_cast<std::uint64_t>(all.rows) * static_cast<std::uint64_t>(all.columns);
  constexpr std::uint64_t part = filled_part_bytes / sizeof(T);
  const std::uint64_t parts = (elements + part - 1) / part;
  const auto workers = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(threads), 1, parts);
  Workers team;
  const Status started = team.start(workers, [&](std::size_t worker) {
    const std::uint64_t begin = std::min(elements, parts * worker / workers * part);
    const std::uint64_t end = std::min(elements, parts * (worker + 1) / workers * part);
    return fill_part(matrix, seed, begin, end);
  });
  return started ? team.join() : started;
}

[[nodiscard]] inline Status fill_uniform(const Matrix<float>& matrix, std::uint64_t seed, int threads) {
  return fill(matrix, seed, threads);
}

/// Element (i, j) becomes number i + j * rows of the stream. By `threads` unpinned threads, each of which touches an
/// equal share of the columns first: on a machine of several memory nodes the pages come to lie on all of them.
/// An error where the system has no pages.
[[nodiscard]] inline Status fill_uniform(const Matrix<double>& matrix, std::uint64_t seed, int threads) {
  return fill(matrix, seed, threads);
}

}  // namespace ullage
