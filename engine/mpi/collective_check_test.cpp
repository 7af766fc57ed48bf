// SPDX-License-Identifier: Apache-2.0
#include "mpi/collective_check.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "mpi/file.hpp"
#include "mpi/windows.hpp"

namespace ullage::collective_check_test {

class MpiCollectiveCheck : public ::testing::Test {
 protected:
  MpiCollectiveCheck() {
    mpi::report_mismatches(all_, [](const std::string& message) { throw std::runtime_error(message); });
  }
  /// Returns what was reported when `call` was made; empty: nothing.
  template <class Call>
  [[nodiscard]] std::string reported(const Call& call) const {
    try {
      call();
    } catch (const std::runtime_error& mismatch) {
      return mismatch.what();
    }
    return "";
  }
  [[nodiscard]] bool is_last() const { return all_.rank() == all_.size() - 1; }

  mpi::Comm all_ = mpi::Comm::world().duplicate();
};

TEST_F(MpiCollectiveCheck, IsInTheTestsBuild) { EXPECT_TRUE(mpi::collectives_are_checked()); }

TEST_F(MpiCollectiveCheck, SaysNothingWhereRanksMeet) {
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(reported([&] {
                all_.barrier();
                (void)all_.any(is_last());
                (void)all_.broadcast(std::string("word"), 0);
                (void)all_.split_by_text("all");
              }),
              "");
}

TEST_F(MpiCollectiveCheck, NamesBothPlacesOnEveryRankAndNobodyHangs) {
  if (all_.size() == 1) GTEST_SKIP() << "one rank always agrees with itself";
  const std::string message = reported([&] {
    if (is_last())
      (void)all_.any(true);
    else
      all_.barrier();
  });
  EXPECT_NE(message.find("rank 0 at engine/mpi/collective_check_test.cpp:"), std::string::npos) << message;
  EXPECT_NE(message.find("rank " + std::to_string(all_.size() - 1) + " at engine/mpi/collective_check_test.cpp:"),
            std::string::npos)
      << message;
}

TEST_F(MpiCollectiveCheck, SeesARankThatDoesNotOpenTheFileOrMakeTheWindow) {
  if (all_.size() == 1) GTEST_SKIP() << "one rank always agrees with itself";
  const std::string opened = reported([&] {
    if (is_last())
      all_.barrier();
    else
      (void)mpi::File::open(all_, "/nowhere/f", mpi::FileAccess::create, {});
  });
  EXPECT_NE(opened.find("ranks enter different collectives"), std::string::npos) << opened;
  const std::string made = reported([&] {
    if (is_last())
      all_.barrier();
    else
      (void)mpi::Window::make(all_, 8);
  });
  EXPECT_NE(made.find("ranks enter different collectives"), std::string::npos) << made;
}

TEST_F(MpiCollectiveCheck, SeesARankThatHasLeftOneOut) {
  if (all_.size() == 1) GTEST_SKIP() << "one rank always agrees with itself";
  const std::string message = reported([&] {
    for (int i = is_last() ? 1 : 0; i < 2; ++i) all_.barrier();
    (void)all_.min(1);
  });
  EXPECT_NE(message.find("collective 2 of this communicator"), std::string::npos) << message;
}

}  // namespace ullage::collective_check_test
