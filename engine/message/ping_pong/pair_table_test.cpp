// SPDX-License-Identifier: Apache-2.0
#include "message/ping_pong/pair_table.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "run/test_support.hpp"

namespace ullage::pair_table_test {
namespace {

/// Row `index` of a part of the table that begins at `start`.
template <class Row>
Row row_of(const std::string& table, std::size_t start, std::size_t index) {
  Row row;
  std::memcpy(&row, table.data() + start + index * sizeof(Row), sizeof(Row));
  return row;
}

class MpiPairTable : public ::testing::Test {
 protected:
  /// An end has so many times as it has the number, the first of all none.
  [[nodiscard]] std::vector<PairTime> own_times() const {
    std::vector<PairTime> times;
    for (int i = 0; i < world_.rank(); ++i) times.push_back({world_.rank(), i, 1e-6 * world_.rank() + i});
    return times;
  }

  mpi::World world_;
  test::SharedFolder folder_{world_};
  const std::string path_ = folder_.path() + "/r.ndjson.case.0.pairs";
};

TEST_F(MpiPairTable, EachEndWritesItsRowsBehindThoseBeforeIt) {
  const PairEnd mine = pair_end(world_.rank(), 7, "host" + std::to_string(world_.rank()));
  ASSERT_TRUE(write_pair_table(world_.all(), path_, 1, mine, own_times()));
  const std::string table = test::read_file(path_);
  const auto ends = static_cast<std::size_t>(world_.size());
  const std::size_t pairs = ends * (ends - 1) / 2;
  ASSERT_EQ(table.size(), ends * sizeof(PairEnd) + pairs * sizeof(PairTime));
  std::size_t row = 0;
  for (int end = 0; end < world_.size(); ++end) {
    const auto found = row_of<PairEnd>(table, 0, static_cast<std::size_t>(end));
    EXPECT_EQ(found.rank, end);
    EXPECT_EQ(found.node, 7);
    EXPECT_STREQ(found.host.data(), ("host" + std::to_string(end)).c_str());
    for (int i = 0; i < end; ++i, ++row) {
      const auto time = row_of<PairTime>(table, ends * sizeof(PairEnd), row);
      EXPECT_EQ(time.client, end);
      EXPECT_EQ(time.server, i);
      EXPECT_DOUBLE_EQ(time.one_way_s, 1e-6 * end + i);
    }
  }
}

TEST_F(MpiPairTable, OfEndsThatTakePartAloneAndInPlaceOfAnEarlierOne) {
  if (world_.root()) test::write_file(path_, std::string(1 << 16, 'x'));
  world_.all().barrier();
  constexpr int stride = 2;
  const bool takes_part = world_.rank() % stride == 0;
  const std::vector<PairTime> times(takes_part ? 1 : 0, PairTime{world_.rank(), 0, 1});
  ASSERT_TRUE(write_pair_table(world_.all(), path_, stride, pair_end(world_.rank(), 0, "h"), times));
  const auto chosen = static_cast<std::size_t>((world_.size() + 1) / stride);
  const std::string table = test::read_file(path_);
  ASSERT_EQ(table.size(), chosen * (sizeof(PairEnd) + sizeof(PairTime)));
  EXPECT_EQ(row_of<PairEnd>(table, 0, chosen - 1).rank, static_cast<int>(chosen - 1) * stride);
}

TEST_F(MpiPairTable, WhatCannotBeMadeIsAnErrorOfAllRanks) {
  const std::string nowhere = folder_.path() + "/missing/r.pairs";
  const Status status = write_pair_table(world_.all(), nowhere, 1, pair_end(world_.rank(), 0, "h"), own_times());
  ASSERT_FALSE(status);
  EXPECT_NE(to_line(status.error()).find("missing"), std::string::npos);
}

TEST(PairTable, AHostsNameIsCutToItsPlace) {
  const PairEnd end = pair_end(1, 2, std::string(100, 'h'));
  EXPECT_EQ(end.host.back(), 'h');
  EXPECT_EQ(pair_end(1, 2, "n").host[1], '\0');
}

}  // namespace
}  // namespace ullage::pair_table_test
