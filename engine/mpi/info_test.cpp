// SPDX-License-Identifier: Apache-2.0
#include "mpi/info.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

namespace ullage::mpi::info_test {
namespace {

TEST(MpiInfo, HintsComeBack) {
  const Map hints{{"cb_nodes", "2"}, {"romio_cb_write", "enable"}};
  const auto info = Info::from(hints);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->to_map(), hints);
}

TEST(MpiInfo, NoHintsIsNoInfo) {
  EXPECT_TRUE(Info().to_map().empty());
  EXPECT_TRUE(Info::from({})->to_map().empty());
}

TEST(MpiInfo, MovesAndFreesOnce) {
  auto first = Info::from({{"a", "1"}});
  Info second = std::move(*first);
  Info third;
  third = std::move(second);
  EXPECT_EQ(third.to_map(), (Map{{"a", "1"}}));
}

TEST(MpiInfo, TooLongIsAnErrorAndNotTheEnd) {
  const auto info = Info::from({{"a", std::string(100'000, 'x')}});
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().kind, ErrorKind::mpi);
  EXPECT_EQ(info.error().where, "a");
}

int size_of_comm(std::int64_t id, MPI_Comm comm, MPI_Info info) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return id == 7 && info == MPI_INFO_NULL ? size : -1;
}

TEST(MpiForeign, AFunctionOfAnotherLibraryGetsTheHandles) {
  const World world;
  const auto function = reinterpret_cast<void (*)()>(&size_of_comm);
  EXPECT_EQ(call_foreign(function, 7, world.all(), Info()), world.size());
  EXPECT_EQ(call_foreign(function, 7, world.self(), Info()), 1);
  EXPECT_EQ(call_foreign(function, 8, world.all(), Info()), -1);
}

}  // namespace
}  // namespace ullage::mpi::info_test
