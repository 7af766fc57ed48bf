// SPDX-License-Identifier: Apache-2.0
// Runs the engine's GoogleTest suites on every rank. Rank 0 reports; a failure on any rank fails all of them.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "mpi/comm.hpp"

namespace {

/// What a rank other than 0 says: only its failures, which rank 0 cannot see.
class FailuresOnly final : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOnly(int rank) : rank_(rank) {}

 private:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const char* file = result.file_name() == nullptr ? "?" : result.file_name();
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_, file, result.line_number(), result.summary());
  }
  int rank_;
};

void be_quiet(int rank) {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_xml_generator());  // one writer a report
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new FailuresOnly(rank));  // gtest owns it
}

}  // namespace

int main(int argc, char** argv) {
  const ullage::mpi::Environment environment(&argc, &argv);
  const auto world = ullage::mpi::Comm::world();
  testing::InitGoogleTest(&argc, argv);
  if (world.rank() != 0) be_quiet(world.rank());
  const bool failed = RUN_ALL_TESTS() != 0;
  return world.any(failed) ? EXIT_FAILURE : EXIT_SUCCESS;
}
