// SPDX-License-Identifier: Apache-2.0
#include "message/call_windows.hpp"

#include <gtest/gtest.h>

namespace ullage::call_windows_test {

CallWindowParameters windows_of(double window_s, double warm_up_s) {
  CallWindowParameters parameters;
  parameters.window_s = window_s;
  parameters.warm_up_s = warm_up_s;
  return parameters;
}

TEST(MpiCallWindows, AsManyAsFillTheWindowOfTheSlowestRank) {
  const mpi::Comm comm = mpi::Comm::world();
  // A call takes 1 us on the first rank, 2 us on the second ...
  const std::int64_t each_ns = 1000 * (comm.rank() + 1);
  const auto run = [&](std::uint64_t calls) { return static_cast<std::int64_t>(calls) * each_ns; };
  const std::uint64_t calls = calls_of_a_window(comm, windows_of(0.01, 0), run);
  EXPECT_EQ(calls, 10'000U / static_cast<std::uint64_t>(comm.size()));
}

TEST(MpiCallWindows, OneCallThatIsTooLongIsAWindow) {
  const mpi::Comm comm = mpi::Comm::world();
  std::vector<std::uint64_t> asked;
  const auto run = [&](std::uint64_t calls) {
    asked.push_back(calls);
    return std::int64_t{5'000'000'000};
  };
  EXPECT_EQ(calls_of_a_window(comm, windows_of(0.01, 0), run), 1U);
  EXPECT_EQ(asked, (std::vector<std::uint64_t>{1, 1, 1})) << "it may have been interrupted";
}

TEST(MpiCallWindows, ARankThatIsInterruptedOnceMakesNoShortWindows) {
  const mpi::Comm comm = mpi::Comm::world();
  bool first = comm.rank() == 0;
  const auto run = [&](std::uint64_t calls) {
    const std::int64_t interrupted_ns = first ? 50'000'000 : 0;
    first = false;
    return static_cast<std::int64_t>(calls) * 1000 + interrupted_ns;
  };
  EXPECT_EQ(calls_of_a_window(comm, windows_of(0.01, 0), run), 10'000U);
}

TEST(MpiCallWindows, WarmsUpForAsLongAsAsked) {
  const mpi::Comm comm = mpi::Comm::world();
  int windows = 0;
  const auto run = [&](std::uint64_t calls) {
    windows += calls == 1000 ? 1 : 0;
    return static_cast<std::int64_t>(calls) * 1000;
  };
  EXPECT_EQ(calls_of_a_window(comm, windows_of(1e-3, 3.5e-3), run), 1000U);
  EXPECT_EQ(windows, 4);
}

TEST(MpiCallWindows, WorkThatTakesNoTimeAtAllEnds) {
  const mpi::Comm comm = mpi::Comm::world();
  EXPECT_GE(calls_of_a_window(comm, windows_of(60, 0), [](std::uint64_t) { return std::int64_t{0}; }), 1'000'000U);
}

}  // namespace ullage::call_windows_test
