// SPDX-License-Identifier: Apache-2.0
#include "linear/distributed_solve/distributed_solve.hpp"

#include <gtest/gtest.h>

#include "run/workload_test_support.hpp"

namespace ullage::distributed_solve_test {

TEST(DistributedSolve, IsDoneByTheMachinesOwnLibrary) {
  if (const auto library = load_scalapack({}); !library) GTEST_SKIP() << to_line(library.error());
  Json record;
  const Values given{{"n", 200}, {"warm_up_s", 0.01}, {"block", 32}};
  ASSERT_EQ(test::run_workload("distributed-solve", given, record), PhaseStatus::ok);
  EXPECT_EQ(record["phase"], "distributed-solve");
  EXPECT_LT(record["gauges"]["residual"]["most"], 16);
}

TEST(DistributedSolve, NeedsNoStorageAndTakesItsOwnParameters) {
  const WorkloadEntry* entry = Registry<WorkloadEntry>::instance().find("distributed-solve");
  ASSERT_NE(entry, nullptr);
  EXPECT_FALSE(entry->works_on_storage());
  const auto values = complete(entry->description.parameters, {{"block", 48}, {"grid_rows", 2}}, "");
  ASSERT_TRUE(values.has_value());
  EXPECT_EQ(bind_parameters<DistributedSolveParameters>(*values).block, 48);
  EXPECT_EQ(bind_parameters<DistributedSolveParameters>(*values).grid_rows, 2);
}

/// A library that makes a grid of one row, and solves nothing. Functions without a state are all it can consist of.
struct Idle {
  static inline int columns = 1;
  static inline int rank = 0;
  static inline int ends_with = 0;

  static void get(const int*, const int*, int* value) { *value = 7; }
  static void grid_init(int*, const char*, const int*, const int* of_columns, std::size_t) { columns = *of_columns; }
  static void grid_info(const int*, int* rows, int* of_columns, int* row, int* column) {
    *rows = 1;
    *of_columns = columns;
    *row = 0;
    *column = rank;
  }
  static void grid_exit(const int*) {}
  static void pdgesv(const int*, const int*, double*, const int*, const int*, const int*, int*, double*, const int*,
                     const int*, const int*, int* info) {
    *info = ends_with;
  }
  static Scalapack library() { return {get, grid_init, grid_info, grid_exit, pdgesv, nullptr, {{"blas", "none"}}}; }
};

class MpiDistributedSolvePhase : public test::MpiLaunch {
 protected:
  MpiDistributedSolvePhase() {
    parameters_.n = 90;
    parameters_.block = 16;
    parameters_.warm_up_s = 0;
    Idle::rank = world_.rank();
    Idle::ends_with = 0;
  }
  PhaseOutcome run(const ScalapackSource& source) {
    DistributedSolvePhase phase(parameters_, context_, source);
    return run_phase(phase);
  }
  PhaseOutcome run_idle() {
    parameters_.grid_rows = 1;
    return run([this] { return Result<const Scalapack*>(&idle_); });
  }

  DistributedSolveParameters parameters_;
  Scalapack idle_ = Idle::library();
};

TEST_F(MpiDistributedSolvePhase, SolvesOverAllRanksAndIsCountedAsHplCountsIt) {
  if (const auto library = load_scalapack({}); !library) GTEST_SKIP() << to_line(library.error());
  parameters_.calls = 2;
  ASSERT_EQ(run([] { return load_scalapack({}); }).status, PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_NEAR(record_["gauges"]["operations"]["sum"].get<double>(), 2 * (2.0 / 3 * 90 * 90 * 90 + 1.5 * 90 * 90), 1e-6);
  EXPECT_GT(record_["gauges"]["residual"]["most"], 0);
  EXPECT_LT(record_["gauges"]["residual"]["most"], most_residual);
  EXPECT_TRUE(record_["hints_granted"].contains("library"));
}

TEST_F(MpiDistributedSolvePhase, WhatIsNoSolutionFailsThePhase) {
  EXPECT_EQ(run_idle().status, PhaseStatus::failed);
  if (!world_.root()) return;
  EXPECT_EQ(record_["bad_blocks"], 1);
  EXPECT_GE(record_["gauges"]["residual"]["most"], most_residual);
}

TEST_F(MpiDistributedSolvePhase, AMatrixWithoutASolutionFailsThePhase) {
  Idle::ends_with = 3;
  EXPECT_EQ(run_idle().status, PhaseStatus::failed);
  if (!world_.root()) return;
  EXPECT_NE(record_["failures"][0]["text"].get<std::string>().find("ended with 3"), std::string::npos);
}

TEST_F(MpiDistributedSolvePhase, ALibraryThatCannotBeToldItsThreadsIsRefusedMore) {
  parameters_.threads = 2;
  EXPECT_EQ(run_idle().status, PhaseStatus::failed);
}

TEST_F(MpiDistributedSolvePhase, NoLibraryIsAFailureOfAllAndNobodyWaits) {
  const auto missing = [this]() -> Result<const Scalapack*> {
    if (world_.root()) return fail(environment_error("ScaLAPACK", "none"));
    return &idle_;
  };
  EXPECT_EQ(run(missing).status, PhaseStatus::failed);
}

TEST(DistributedSolvePhase, RowsThatDoNotDivideTheRanksAreRefusedWithTheirPlace) {
  DistributedSolveParameters parameters;
  parameters.grid_rows = 3;
  EXPECT_TRUE(check_distributed_solve(parameters, 6, "/p").has_value());
  const Status refused = check_distributed_solve(parameters, 8, "/p");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().where, "/p/grid_rows");
}

TEST(ProcessGrid, IsAsSquareAsItCanBeAndWiderThanHigh) {
  EXPECT_EQ(grid_shape(1, 0), (GridShape{1, 1}));
  EXPECT_EQ(grid_shape(7, 0), (GridShape{1, 7}));
  EXPECT_EQ(grid_shape(12, 0), (GridShape{3, 4}));
  EXPECT_EQ(grid_shape(16, 0), (GridShape{4, 4}));
  EXPECT_EQ(grid_shape(12, 6), (GridShape{6, 2}));
}

TEST(ProcessGrid, EveryIndexIsDealtOutOnceInBlocks) {
  for (const int total : {1, 5, 16, 17, 63})
    for (const int block : {1, 4, 16})
      for (const int processes : {1, 2, 3, 5}) {
        std::vector<int> owners(static_cast<std::size_t>(total), -1);
        for (int me = 0; me < processes; ++me) {
          const BlockCyclic mine(total, block, processes, me);
          for (int local = 0; local < mine.count(); ++local) {
            const int index = mine.global(local);
            ASSERT_LT(index, total);
            ASSERT_EQ(owners[static_cast<std::size_t>(index)], -1);
            owners[static_cast<std::size_t>(index)] = me;
          }
        }
        for (int index = 0; index < total; ++index)
          ASSERT_EQ(owners[static_cast<std::size_t>(index)], index / block % processes) << index << " of " << total;
      }
}

}  // namespace ullage::distributed_solve_test
