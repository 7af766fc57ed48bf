// SPDX-License-Identifier: Apache-2.0
#include "linear/solve/solve.hpp"

#include <gtest/gtest.h>

#include "linear/blas_library.hpp"
#include "linear/test_support.hpp"
#include "run/workload_test_support.hpp"

namespace ullage::solve_test {
namespace {

PhaseStatus run(const Values& given, Json& record) { return test::run_workload("solve", given, record); }

TEST(Solve, IsDoneByTheMachinesOwnLibrary) {
  if (const auto blas = load_blas({}); !blas) GTEST_SKIP() << to_line(blas.error());
  for (const std::int64_t block : {0, 32}) {
    Json record;
    ASSERT_EQ(run({{"n", 300}, {"warm_up_s", 0.0}, {"block", block}}, record), PhaseStatus::ok);
    EXPECT_EQ(record["phase"], "solve");
    EXPECT_LT(record["gauges"]["residual"]["most"], 16);
  }
}

TEST(Solve, WorksOnCoresAndNeedsNoStorage) {
  const WorkloadEntry* entry = Registry<WorkloadEntry>::instance().find("solve");
  ASSERT_NE(entry, nullptr);
  EXPECT_FALSE(entry->works_on_storage());
  const auto values = complete(entry->description.parameters, {{"block", 64}, {"seed", 7}}, "");
  ASSERT_TRUE(values.has_value());
  EXPECT_EQ(bind_parameters<SolveParameters>(*values).block, 64);
  EXPECT_EQ(bind_parameters<SolveParameters>(*values).seed, 7U);
}

class MpiSolvePhase : public test::MpiLaunch {
 protected:
  MpiSolvePhase() {
    parameters_.n = 90;
    parameters_.warm_up_s = 0;
  }
  PhaseOutcome run() {
    SolvePhase phase(parameters_, context_, [this] { return Result<Blas*>(&blas_); });
    return run_phase(phase);
  }
  double residual() { return gauge("residual"); }

  SolveParameters parameters_;
  test::PlainBlas blas_;
};

TEST_F(MpiSolvePhase, WorkIsCountedAsHplCountsIt) {
  parameters_.calls = 3;
  ASSERT_EQ(run().status, PhaseStatus::ok);
  EXPECT_EQ(blas_.factorings, 3);
  if (!world_.root()) return;
  EXPECT_EQ(record_["operations"], 3 * world_.size());
  EXPECT_NEAR(record_["gauges"]["operations"]["most"].get<double>(), 3 * (2.0 / 3 * 90 * 90 * 90 + 1.5 * 90 * 90),
              1e-6);
  EXPECT_GT(residual(), 0);
  EXPECT_LT(residual(), most_residual);
  EXPECT_EQ(record_["hints_granted"]["factorisation"], "dgetrf of the library");
}

TEST_F(MpiSolvePhase, CorruptedMatrixFailsThePhase) {
  blas_.spoil_factors = [](const Block<double>& a) { a.at(40, 50) += 1e-6; };
  EXPECT_EQ(run().status, PhaseStatus::failed);
  if (!world_.root()) return;
  EXPECT_EQ(record_["bad_blocks"], world_.size());
  EXPECT_GE(residual(), most_residual);
}

TEST_F(MpiSolvePhase, OneWrongSolutionAmongSeveralFailsThePhase) {
  parameters_.calls = 3;
  blas_.spoil_factors = [this](const Block<double>& a) {
    if (blas_.factorings == 2) a.at(40, 50) += 1e-6;
  };
  EXPECT_EQ(run().status, PhaseStatus::failed);
  if (!world_.root()) return;
  EXPECT_EQ(record_["bad_blocks"], world_.size());
}

TEST_F(MpiSolvePhase, OwnFactorisationIsUsedWhereAsked) {
  parameters_.block = 24;
  ASSERT_EQ(run().status, PhaseStatus::ok);
  EXPECT_EQ(blas_.factorings, 0);
  EXPECT_GT(blas_.products, 0);
  if (!world_.root()) return;
  EXPECT_EQ(record_["hints_granted"]["factorisation"], "ours, panels of 24");
}

TEST_F(MpiSolvePhase, OwnFactorisationIsUsedWhereTheLibraryHasNone) {
  blas_.has_factor = false;
  ASSERT_EQ(run().status, PhaseStatus::ok);
  EXPECT_EQ(blas_.factorings, 0);
  if (!world_.root()) return;
  EXPECT_EQ(record_["hints_granted"]["factorisation"], "ours, panels of 192");
  EXPECT_LT(residual(), most_residual);
}

TEST_F(MpiSolvePhase, WarmUpLeavesTheSystemWhole) {
  parameters_.warm_up_s = 0.01;
  ASSERT_EQ(run().status, PhaseStatus::ok);
  EXPECT_GT(blas_.factorings, 1);
  if (!world_.root()) return;
  EXPECT_EQ(record_["operations"], world_.size());
}

TEST_F(MpiSolvePhase, MatrixThatDoesNotFitIsRefused) {
  parameters_.n = 3'000'000;  // 72 TB
  EXPECT_EQ(run().status, PhaseStatus::failed);
  EXPECT_EQ(blas_.factorings, 0);
}

constexpr std::uint64_t seed = 5;

struct Factored {
  Matrix<double> matrix;
  std::vector<int> pivots;
  int singular = 0;
};

Matrix<double> filled(int rows, int columns) {
  auto matrix = Matrix<double>::make(rows, columns).value();
  EXPECT_TRUE(fill_uniform(matrix, seed, 1).has_value());
  return matrix;
}

Factored factored(int rows, int columns, int width) {
  Factored result{filled(rows, columns), std::vector<int>(static_cast<std::size_t>(columns)), 0};
  result.singular = factor_blocked(test::PlainBlas(), result.matrix.all(), width, result.pivots);
  return result;
}

class Widths : public ::testing::TestWithParam<int> {};

TEST_P(Widths, FactorsAndPivotsAreThoseOfTheTextbook) {
  for (const int n : {1, 2, 7, 40, 61}) {
    const Factored ours = factored(n, n, GetParam());
    const Matrix<double> matrix = filled(n, n);
    std::vector<int> pivots(static_cast<std::size_t>(n));
    ASSERT_EQ(test::PlainBlas().factor(matrix.all(), pivots), 0);
    EXPECT_EQ(ours.singular, 0);
    EXPECT_EQ(ours.pivots, pivots);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        EXPECT_NEAR(ours.matrix.all().at(i, j), matrix.all().at(i, j), 1e-11) << n << ": " << i << ", " << j;
  }
}

TEST_P(Widths, SystemIsSolvedToHplsRule) {
  constexpr int n = 150;
  const Factored ours = factored(n, n, GetParam());
  std::vector<double> x;
  for (std::uint64_t i = 0; i < n; ++i) x.push_back(uniform_element(seed, std::uint64_t{n} * n + i));
  solve_factored(test::PlainBlas(), ours.matrix.all(), ours.pivots, x);
  EXPECT_LT(scaled_residual(seed, x), most_residual);
}

INSTANTIATE_TEST_SUITE_P(Factorisation, Widths, ::testing::Values(1, 8, 9, 16, 33, 500));

TEST(Factorisation, TallMatrixIsFactored) {
  const Factored ours = factored(50, 20, 7);
  const Matrix<double> matrix = filled(50, 20);
  std::vector<int> pivots(20);
  ASSERT_EQ(test::PlainBlas().factor(matrix.all(), pivots), 0);
  EXPECT_EQ(ours.pivots, pivots);
  for (int i = 0; i < 50; ++i) EXPECT_NEAR(ours.matrix.all().at(i, 19), matrix.all().at(i, 19), 1e-11);
}

TEST(Factorisation, FirstZeroPivotIsNamed) {
  for (const int column : {0, 3, 19, 30}) {
    auto matrix = filled(31, 31);
    for (int row = 0; row < 31; ++row) matrix.all().at(row, column) = 0;
    std::vector<int> pivots(31);
    EXPECT_EQ(factor_blocked(test::PlainBlas(), matrix.all(), 16, pivots), column + 1);
  }
}

}  // namespace

}  // namespace ullage::solve_test
