// SPDX-License-Identifier: Apache-2.0
#include "linear/matrix.hpp"

#include <algorithm>

#include "base/workers.hpp"

namespace ullage {
namespace {

/// Parts are made of whole pages of the largest usual size, so that no two threads touch one first.
constexpr std::uint64_t part_bytes = std::uint64_t{2} << 20U;

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
  constexpr std::uint64_t part = part_bytes / sizeof(T);
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

}  // namespace

Status fill_uniform(const Matrix<double>& matrix, std::uint64_t seed, int threads) {
  return fill(matrix, seed, threads);
}

Status fill_uniform(const Matrix<float>& matrix, std::uint64_t seed, int threads) {
  return fill(matrix, seed, threads);
}

}  // namespace ullage
