// SPDX-License-Identifier: Apache-2.0
// Square matrix products by a library, one an operation.
#pragma once

#include <optional>

#include "linear/blas.hpp"
#include "linear/library_phase.hpp"
#include "linear/matrix.hpp"
#include "work/workload.hpp"

namespace ullage {

enum class GemmType { fp64, fp32 };

struct GemmParameters : CallParameters {
  int n = 2048;
  GemmType type = GemmType::fp64;

  [[nodiscard]] static Table<GemmParameters> table();
};

/// C = A B of matrices n x n of T; 2 n^3 operations a call.
template <class T>
class GemmPhase final : public LibraryPhase {
 public:
  GemmPhase(const GemmParameters& parameters, const WorkloadContext& context, BlasSource source)
      : LibraryPhase(parameters), parameters_(parameters), context_(context), source_(std::move(source)) {}

  [[nodiscard]] PhaseInfo info() const override { return {.name = "gemm"}; }
  [[nodiscard]] Status before() override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Gauges gauges() const override;
  [[nodiscard]] Map hints_granted() const override { return blas_ == nullptr ? Map{} : blas_->facts(); }

 private:
  struct Matrices {
    Matrix<T> a;
    Matrix<T> b;
    Matrix<T> c;
  };
  [[nodiscard]] Status make_matrices();
  void warm_up() const;

  GemmParameters parameters_;
  WorkloadContext context_;
  BlasSource source_;
  Blas* blas_ = nullptr;
  std::optional<Matrices> matrices_;
};

extern template class GemmPhase<double>;
extern template class GemmPhase<float>;

}  // namespace ullage
