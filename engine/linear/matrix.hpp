// SPDX-License-Identifier: Apache-2.0
// A large matrix of numbers that can be made again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/permutation.hpp"
#include "base/result.hpp"
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

/// Element (i, j) becomes number i + j * rows of the stream. By `threads` unpinned threads, each of which touches an
/// equal share of the columns first: on a machine of several memory nodes the pages come to lie on all of them.
/// An error where the system has no pages.
[[nodiscard]] Status fill_uniform(const Matrix<double>& matrix, std::uint64_t seed, int threads);
[[nodiscard]] Status fill_uniform(const Matrix<float>& matrix, std::uint64_t seed, int threads);

}  // namespace ullage
