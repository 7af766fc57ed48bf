// SPDX-License-Identifier: Apache-2.0
// Workload `gemm`: products of square matrices by the machine's BLAS.
#include "linear/gemm/gemm.hpp"

#include "base/clock.hpp"
#include "base/resources.hpp"
#include "base/std.hpp"
#include "linear/blas_library.hpp"
#include "linear/linear_check.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

/// The order of the products that warm up: large enough for a library to use its threads, and done soon.
constexpr int warm_up_n = 768;
constexpr std::uint64_t seed_of_a = 1;
constexpr std::uint64_t seed_of_b = 2;
constexpr std::uint64_t seed_of_check = 3;

std::unique_ptr<PhaseWork> make_gemm_phase(const GemmParameters& parameters, const WorkloadContext& context) {
  const BlasSource source = blas_source({parameters.library, parameters.core});
  if (parameters.type == GemmType::fp32) return std::make_unique<GemmPhase<float>>(parameters, context, source);
  return std::make_unique<GemmPhase<double>>(parameters, context, source);
}

const Registered<WorkloadEntry> registered_gemm{without_storage<GemmParameters>({
    .name = "gemm",
    .doc = "Multiplies square matrices by a BLAS that is loaded at run time.",
    .make = single_phase_by(make_gemm_phase),
})};

}  // namespace

Table<GemmParameters> GemmParameters::table() {
  using P = GemmParameters;
  return joined<P>(
      Table<P>{
          count("n", &P::n, {1, 200'000}, "Give each of the three matrices this many rows and columns."),
          choice("type", &P::type, Words<GemmType>{{GemmType::fp64, "fp64"}, {GemmType::fp32, "fp32"}},
                 "Choose the type of the elements: fp64 calls dgemm, fp32 calls sgemm."),
      },
      CallParameters::table());
}

template <class T>
Status GemmPhase<T>::before() {
  const auto n = static_cast<std::uint64_t>(parameters_.n);
  const auto ranks = static_cast<std::uint64_t>(context_.world->topology().ranks_on_node);
  if (Status room = check_room("gemm", 3 * n * n * sizeof(T) * ranks); !room) return room;
  if (auto status = take_into(blas_, source_()); !status) return status;
  if (Status threads = blas_->use_threads(parameters_.threads); !threads) return threads;
  if (Status made = make_matrices(); !made) return made;
  warm_up();
  return {};
}

template <class T>
Status GemmPhase<T>::make_matrices() {
  auto a = Matrix<T>::make(parameters_.n, parameters_.n);
  auto b = Matrix<T>::make(parameters_.n, parameters_.n);
  auto c = Matrix<T>::make(parameters_.n, parameters_.n);
  if (!a) return fail(a.error());
  if (!b) return fail(b.error());
  if (!c) return fail(c.error());
  if (Status filled = fill_uniform(*a, seed_of_a, parameters_.threads); !filled) return filled;
  if (Status filled = fill_uniform(*b, seed_of_b, parameters_.threads); !filled) return filled;
  if (Status filled = fill_uniform(*c, seed_of_a, parameters_.threads); !filled) return filled;
  matrices_.emplace(std::move(*a), std::move(*b), std::move(*c));
  return {};
}

/// Also makes the library's threads and buffers.
template <class T>
void GemmPhase<T>::warm_up() const {
  const int n = std::min(parameters_.n, warm_up_n);
  const auto part = [n](const Matrix<T>& matrix) { return matrix.all().part(0, 0, n, n); };
  const std::int64_t until = now_ns() + static_cast<std::int64_t>(parameters_.warm_up_s * 1e9);
  while (now_ns() < until) blas_->multiply(1, part(matrices_->a), part(matrices_->b), 0, part(matrices_->c));
}

template <class T>
Status GemmPhase<T>::execute(Meter& meter) {
  for (std::uint64_t i = 0; i < prepared_; ++i) {
    calls_.time([&] { blas_->multiply(1, matrices_->a.all(), matrices_->b.all(), 0, matrices_->c.all()); });
    if (!meter.completed(0)) break;
  }
  return {};
}

template <class T>
Verification GemmPhase<T>::after(std::uint64_t, Meter&) {
  const auto& [a, b, c] = *matrices_;
  return Verification::of(check_product(a.all(), b.all(), c.all(), seed_of_check));
}

template <class T>
Gauges GemmPhase<T>::gauges() const {
  const double n = parameters_.n;
  return gauges_of(2 * n * n * n, blas_->threads());
}

template class GemmPhase<double>;
template class GemmPhase<float>;

}  // namespace ullage
