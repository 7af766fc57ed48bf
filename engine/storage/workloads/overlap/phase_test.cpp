// SPDX-License-Identifier: Apache-2.0
// What phases do on files is in overlap_test.cpp.
#include "storage/workloads/overlap/phase.hpp"

#include <gtest/gtest.h>

#include "storage/workloads/overlap/test_support.hpp"

namespace ullage::overlap_phase_test {

class OverlapPhase : public overlap_test::OneRepetition {};

TEST_F(OverlapPhase, SaysWhatItIsAndMovesNothingBeforeItIsAsked) {
  const auto workload = make({{"cache", std::string("drop")}});
  ASSERT_EQ(workload->phases(), 2U);
  const auto write = workload->phase(0);
  EXPECT_EQ(write->info().name, "write");
  EXPECT_EQ(write->info().access, Access::write);
  EXPECT_TRUE(write->info().collective) << "ranks begin each stretch together";
  EXPECT_EQ(write->info().bytes_at_once, 3U * 2 * 4096);
  EXPECT_EQ(write->operations(), 2U + 4 * 2);
  EXPECT_TRUE(write->wants_sync());
  EXPECT_EQ(write->gauges().at("io_s"), 0);
  const auto read = workload->phase(1);
  EXPECT_EQ(read->info().cache_control, "drop");
  EXPECT_EQ(read->info().data_of, "own");
  EXPECT_FALSE(read->wants_sync());
}

TEST_F(OverlapPhase, WithoutAReadThereIsOnePhase) { EXPECT_EQ(make({{"read", false}})->phases(), 1U); }

std::vector<std::unique_ptr<File>> opened_often(Backend& backend, std::size_t count, OpenMode mode) {
  std::vector<std::unique_ptr<File>> files;
  for (std::size_t i = 0; i < count; ++i) files.push_back(test::opened(backend, {"f", mode, false, 0}));
  return files;
}

TEST(HelperTransfers, MoveWhatTheyAreGivenAndWaitForAllOfIt) {
  test::Bench bench;
  const auto backend = bench.make("posix");
  test::Transfers transfers(12, 4096, 3);
  EXPECT_TRUE(test::opened(*backend, {"f", OpenMode::create, false, 0})->close());
  const auto files = opened_often(*backend, 4, OpenMode::overwrite);
  {
    HelperTransfers helpers(files);
    ASSERT_TRUE(helpers.start_threads());
    for (std::size_t batch = 0; batch < 3; ++batch) {
      helpers.start(Direction::write, transfers.extents().subspan(4 * batch, 4));
      helpers.test();
      EXPECT_TRUE(helpers.wait());
    }
    EXPECT_TRUE(helpers.wait()) << "nothing is under way";
    helpers.start(Direction::write, transfers.extents().first(1));
  }  // what is under way ends first
  EXPECT_EQ(test::wrong_bytes_read_back(*backend, "f", transfers), 0U);
}

TEST(HelperTransfers, AnErrorIsThatOfItsBatchAlone) {
  test::Bench bench;
  const auto backend = bench.make("posix");
  test::write_file(bench.path("f"), std::string(8192, 'x'));
  test::Transfers transfers(4, 4096, 3);
  const auto files = opened_often(*backend, 2, OpenMode::read);
  HelperTransfers helpers(files);
  ASSERT_TRUE(helpers.start_threads());
  helpers.start(Direction::read, transfers.extents().subspan(1, 2));
  const Status beyond = helpers.wait();
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().offset_bytes, 8192U);
  helpers.start(Direction::read, transfers.extents().first(2));
  EXPECT_TRUE(helpers.wait());
}

}  // namespace ullage::overlap_phase_test
