// SPDX-License-Identifier: Apache-2.0
#include "storage/backends/fault_viewed_file.hpp"

#include <gtest/gtest.h>

#include "storage/backends/viewed_test_support.hpp"

namespace ullage::fault_viewed_file_test {

using namespace test;

Values fault_in(const std::string& inner, const std::string& kind, const std::string& operation, std::int64_t after = 0,
                std::int64_t rank = -1) {
  return {{"inner", inner}, {"kind", kind}, {"operation", operation}, {"after", after}, {"rank", rank}};
}

class MpiFaultViews : public testing::TestWithParam<Pointer> {};

/// The rank that suffers takes part in every call with nothing, so the others come through.
TEST_P(MpiFaultViews, OneRanksErrorLeavesNobodyWaiting) {
  for (const auto& [kind, errno_value] :
       {std::pair("enospc", ENOSPC), std::pair("eio", EIO), std::pair("short", EIO)}) {
    Bench bench;
    const int last = bench.world().size() - 1;
    const bool suffers = bench.world().rank() == last;
    const auto backend = bench.make("fault", fault_in("mpiio", kind, "write", 2, last));
    const auto file = opened_viewed(*backend, OpenMode::create);
    const bool segments = GetParam() != Pointer::ordered;
    ASSERT_TRUE(file->set_view({segments ? static_cast<std::uint64_t>(bench.world().rank()) * 200 : 0, 0, 0, 1}, {}));
    const Status written = write_words(*file, GetParam(), bench.world().rank(), 5);
    EXPECT_EQ(written.has_value(), !suffers) << kind;
    if (!written) {
      EXPECT_EQ(written.error().errno_value, errno_value);
      EXPECT_EQ(written.error().where, bench.path("f"));
      EXPECT_NE(written.error().text.find("(injected)"), std::string::npos);
    }
    EXPECT_EQ(file->sync().has_value(), !suffers);
    EXPECT_TRUE(file->close());
  }
}

INSTANTIATE_TEST_SUITE_P(Mpi, MpiFaultViews, testing::Values(Pointer::individual, Pointer::together, Pointer::ordered));

TEST(MpiFaultViewedFile, OpenSyncAndClose) {
  for (const char* operation : {"open", "sync", "close"}) {
    Bench bench;
    const int last = bench.world().size() - 1;
    const bool suffers = bench.world().rank() == last;
    const auto backend = bench.make("fault", fault_in("mpiio", "eio", operation, 0, last));
    auto file = backend->open_viewed({"f", OpenMode::create, true, 0}, {});
    EXPECT_EQ(file.has_value(), std::string(operation) != "open");
    if (!file) file = backend->open_viewed({"f", OpenMode::create, true, 0}, {});
    ASSERT_TRUE(file) << line_of(file);
    ASSERT_TRUE(write_words(**file, Pointer::ordered, bench.world().rank(), 1));
    EXPECT_EQ((*file)->sync().has_value(), std::string(operation) != "sync" || !suffers);
    EXPECT_EQ((*file)->close().has_value(), std::string(operation) != "close" || !suffers);
  }
}

TEST(MpiFaultViewedFile, AFlippedBitIsInTheFileAndNotInThePayload) {
  Bench bench;
  const int rank = bench.world().rank();
  const auto backend = bench.make("fault", fault_in("mpiio", "flip", "write", 1, 0));
  const auto file = opened_viewed(*backend, OpenMode::create);
  Words64 words(rank, 0, 5);
  const Words64 before = words;
  ASSERT_TRUE(file->move(Direction::write, Pointer::ordered, words.bytes()));
  Words64 second(rank, 5, 5);
  ASSERT_TRUE(file->move(Direction::write, Pointer::ordered, second.bytes()));
  EXPECT_EQ(words, before);
  EXPECT_EQ(second, Words64(rank, 5, 5));
  ASSERT_TRUE(file->sync());
  bench.world().all().barrier();
  ASSERT_TRUE(file->set_view({}, {}));
  EXPECT_EQ(wrong_calls(*file, Pointer::ordered, rank, 2), rank == 0 ? 1U : 0U);
  EXPECT_TRUE(file->close());
}

TEST(FaultViewedFile, ReadsAreFlippedAndDelayed) {
  Bench bench;
  auto given = fault_in("mpiio", "flip", "read", 1);
  const auto flips = bench.make("fault", given);
  auto file = opened_viewed(*flips, OpenMode::create);
  ASSERT_TRUE(write_words(*file, Pointer::individual, 0, 3));
  ASSERT_TRUE(file->set_view({}, {}));
  EXPECT_EQ(wrong_calls(*file, Pointer::individual, 0, 3), 1U);
  EXPECT_TRUE(file->close());
  given = fault_in("null", "delay", "read", 1);
  given["delay_s"] = 0.05;
  Words64 words(0, 0, 5);
  bool is_alone = false;  // once: a pause of this process may make another call as long
  for (int time = 0; time < 20 && !is_alone; ++time) {
    const auto delays = bench.make("fault", given);
    file = opened_viewed(*delays, OpenMode::read);
    std::vector<std::int64_t> took;
    for (int i = 0; i < 3; ++i) {
      const std::int64_t start = now_ns();
      EXPECT_TRUE(file->move(Direction::read, Pointer::individual, words.bytes()));
      took.push_back(now_ns() - start);
    }
    EXPECT_GE(took[1], 50'000'000);
    is_alone = took[0] + took[2] < 50'000'000;
  }
  EXPECT_TRUE(is_alone);
}

TEST(FaultViewedFile, BackendsWithoutViewsHaveNoneHere) {
  Bench bench;
  const auto backend = bench.make("fault");  // posix
  EXPECT_FALSE(backend->capabilities().views);
  const auto file = backend->open_viewed({"f", OpenMode::create, true, 0}, {});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().kind, ErrorKind::unsupported);
}

}  // namespace ullage::fault_viewed_file_test
