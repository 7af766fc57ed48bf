// SPDX-License-Identifier: Apache-2.0
#include "storage/backends/mpiio_viewed_file.hpp"

#include <gtest/gtest.h>

#include "storage/backends/viewed_test_support.hpp"

namespace ullage::mpiio_viewed_file_test {

using namespace test;

constexpr std::uint64_t calls = 4;
constexpr std::size_t call_bytes = 40;

struct Way {
  const char* name;
  Pointer pointer;
  bool shared;   // one file for all ranks
  bool scatter;  // chunks of the ranks in turn, else a segment each (or the shared pointer)
};

class MpiMpiioViews : public testing::TestWithParam<Way> {
 protected:
  [[nodiscard]] std::string name() const { return way().shared ? "f" : "f" + std::to_string(rank()); }
  [[nodiscard]] static const Way& way() { return GetParam(); }
  [[nodiscard]] int rank() const { return bench_.world().rank(); }
  [[nodiscard]] std::unique_ptr<ViewedFile> open(OpenMode mode) {
    return opened_viewed(*backend_, mode, way().shared, name());
  }
  [[nodiscard]] FileView view() const {
    if (way().scatter) return {16, call_bytes / 5, rank(), bench_.world().size()};
    const bool segments = way().shared && way().pointer != Pointer::ordered;
    return {16 + (segments ? static_cast<std::uint64_t>(rank()) * calls * call_bytes : 0), 0, 0, 1};
  }

  Bench bench_;
  std::unique_ptr<Backend> backend_ = bench_.make("mpiio");
};

TEST_P(MpiMpiioViews, WhatIsWrittenComesBack) {
  EXPECT_TRUE(backend_->capabilities().views);
  auto file = open(OpenMode::create);
  ASSERT_TRUE(file->set_view(view(), {}));
  const Status written = write_words(*file, way().pointer, rank(), calls);
  EXPECT_TRUE(written) << line_of(written);
  const Status synced = file->sync();
  EXPECT_TRUE(synced) << line_of(synced);
  bench_.world().all().barrier();
  ASSERT_TRUE(file->set_view(view(), {}));
  EXPECT_EQ(wrong_calls(*file, way().pointer, rank(), calls), 0U) << "through the same file";
  EXPECT_TRUE(file->close());
  for (const auto mode : {OpenMode::read, OpenMode::overwrite}) {
    file = open(mode);
    ASSERT_TRUE(file->set_view(view(), {}));
    EXPECT_EQ(wrong_calls(*file, way().pointer, rank(), calls), 0U);
    EXPECT_TRUE(file->close());
  }
  const auto extents = backend_->inspect(name());
  ASSERT_TRUE(extents);
  const auto writers = way().shared ? static_cast<std::uint64_t>(bench_.world().size()) : 1U;
  EXPECT_EQ(extents->size_bytes, 16 + writers * calls * call_bytes);
}

TEST_P(MpiMpiioViews, PointersGoOnAfterHints) {
  auto file = open(OpenMode::create);
  ASSERT_TRUE(file->set_view(view(), {{"cb_buffer_size", "1048576"}}));
  ASSERT_TRUE(write_words(*file, way().pointer, rank(), 2));
  EXPECT_TRUE(file->set_hints({{"cb_buffer_size", "2097152"}}));
  Words64 more(rank(), 10, 10);
  ASSERT_TRUE(file->move(Direction::write, way().pointer, more.bytes().first(call_bytes)));
  ASSERT_TRUE(file->move(Direction::write, way().pointer, more.bytes().last(call_bytes)));
  ASSERT_TRUE(file->sync());
  bench_.world().all().barrier();
  ASSERT_TRUE(file->set_view(view(), {}));
  EXPECT_EQ(wrong_calls(*file, way().pointer, rank(), 4), 0U);
  EXPECT_TRUE(file->close());
}

/// A rank in error takes part in what the others wait for, and none syncs.
TEST_P(MpiMpiioViews, OneRanksFailureLeavesNobodyWaiting) {
  const bool suffers = rank() == bench_.world().size() - 1;
  auto file = open(OpenMode::create);
  ASSERT_TRUE(file->set_view(view(), {}));
  ASSERT_TRUE(write_words(*file, way().pointer, rank(), 1));
  Words64 words(rank(), 5, 5);
  const std::span<std::byte> too_long(words.bytes().data(), std::size_t{std::numeric_limits<int>::max()} + 1);
  const Status second = file->move(Direction::write, way().pointer, suffers ? too_long : words.bytes());
  EXPECT_EQ(second.has_value(), !suffers);
  const Status third = file->move(Direction::write, way().pointer, words.bytes());
  EXPECT_EQ(third.has_value(), !suffers) << "its error stays";
  const Status synced = file->sync();
  EXPECT_EQ(synced.has_value(), !way().shared && !suffers);
  if (!synced && !suffers) {
    EXPECT_EQ(synced.error().text, "not synced, since another rank's operation on the file failed");
  }
  EXPECT_TRUE(file->set_view(view(), {}));
  EXPECT_TRUE(file->close());
}

TEST_P(MpiMpiioViews, ARankThatClosesGoesAlongWithTheOthersSyncs) {
  auto file = open(OpenMode::create);
  ASSERT_TRUE(file->set_view(view(), {}));
  ASSERT_TRUE(write_words(*file, way().pointer, rank(), 1));
  for (int i = 0; i <= rank(); ++i) EXPECT_TRUE(file->sync());
  EXPECT_TRUE(file->close());
}

INSTANTIATE_TEST_SUITE_P(Mpi, MpiMpiioViews,
                         testing::Values(Way{"Scatter", Pointer::together, true, true},
                                         Way{"Shared", Pointer::ordered, true, false},
                                         Way{"Separated", Pointer::individual, false, false},
                                         Way{"Segmented", Pointer::individual, true, false},
                                         Way{"SegColl", Pointer::together, true, false}),
                         [](const auto& way) { return way.param.name; });

TEST(MpiMpiioViewedFile, OnlyKnownFilesLieBesideASharedPointer) {
  Bench bench;
  const auto backend = bench.make("mpiio");
  ASSERT_TRUE(bench.folder().make_directory("c-s"));
  bench.world().all().barrier();
  const auto file = opened_viewed(*backend, OpenMode::create, true, "c-s/data");
  ASSERT_TRUE(file->set_view({}, {}));
  ASSERT_TRUE(write_words(*file, Pointer::ordered, bench.world().rank(), 1));
  for (const auto& name : test::names_in(bench.path("c-s")))
    EXPECT_TRUE(name == "data" || file_beside(name) == "data") << name;
  bench.world().all().barrier();
  EXPECT_TRUE(file->close());
  bench.world().all().barrier();
  EXPECT_EQ(test::names_in(bench.path("c-s")), std::vector<std::string>{"data"}) << "closing takes them away";
}

TEST(MpiMpiioViewedFile, FilesWithADatasetThatWereNeverClosedAreRemoved) {
  Bench bench;
  const auto backend = bench.make("mpiio");
  ASSERT_TRUE(bench.folder().make_directory("c-s"));
  bench.world().all().barrier();
  const auto file = opened_viewed(*backend, OpenMode::create, true, "c-s/data");
  ASSERT_TRUE(write_words(*file, Pointer::ordered, bench.world().rank(), 1));
  bench.world().all().barrier();
  if (bench.world().root()) {
    Leftovers leftovers;
    bench.folder().remove_dataset({"s", "c-s", 1, false, false, std::nullopt, true}, {}, leftovers);
    EXPECT_TRUE(leftovers.left.empty()) << leftovers.left.front();
    EXPECT_FALSE(std::filesystem::exists(bench.path("c-s")));
  }
  bench.world().all().barrier();
  (void)file->close();  // for its memory; a library may call it an error that its side files are gone
}

TEST(MpiMpiioViewedFile, OpenRefusesAsOtherFilesDo) {
  Bench bench;
  const auto backend = bench.make("mpiio");
  EXPECT_FALSE(backend->open_viewed({"none", OpenMode::read, true, 0}, {}));
  EXPECT_FALSE(backend->open_viewed({"none", OpenMode::overwrite, true, 0}, {}));
  if (bench.world().root()) {
    test::write_file(bench.path("there"), "already");
    std::filesystem::create_symlink("/etc/hostname", bench.path("link"));
  }
  bench.world().all().barrier();
  EXPECT_EQ(backend->open_viewed({"there", OpenMode::create, true, 0}, {}).error().errno_value, EEXIST);
  EXPECT_EQ(backend->open_viewed({"link", OpenMode::read, true, 0}, {}).error().errno_value, ELOOP);
  EXPECT_FALSE(backend->open_viewed({"new", OpenMode::create, true, 0}, {{"", "no name"}}));
  bench.world().all().barrier();
  EXPECT_FALSE(std::filesystem::exists(bench.path("new")));
}

TEST(MpiMpiioViewedFile, HintsOfTheFileGoBeforeThoseOfTheBackend) {
  Bench bench;
  const auto backend =
      bench.make("mpiio", {{"hints", Map{{"cb_buffer_size", "1048576"}, {"ind_rd_buffer_size", "8192"}}}});
  auto file = backend->open_viewed({"f", OpenMode::create, true, 0}, {{"cb_buffer_size", "2097152"}});
  ASSERT_TRUE(file) << line_of(file);
  if (mpi::mpi_io_component() == "romio") {
    EXPECT_EQ((*file)->hints_granted().at("cb_buffer_size"), "2097152");
    EXPECT_EQ((*file)->hints_granted().at("ind_rd_buffer_size"), "8192");
    EXPECT_TRUE((*file)->set_hints({{"ind_rd_buffer_size", "16384"}}));
    EXPECT_EQ((*file)->hints_granted().at("ind_rd_buffer_size"), "16384");
  }
  EXPECT_FALSE((*file)->set_hints({{"key", ""}}));
  EXPECT_TRUE((*file)->close());
}

TEST(OneRankMpiioViewedFile, ReadingPastTheEndIsAnError) {
  Bench bench;
  const auto backend = bench.make("mpiio");
  test::write_file(bench.path("f"), std::string(56, 'x'));
  const auto file = opened_viewed(*backend, OpenMode::read);
  Words64 words(0, 0, 5);
  EXPECT_TRUE(file->move(Direction::read, Pointer::individual, words.bytes()));
  const Status past = file->move(Direction::read, Pointer::individual, words.bytes());
  ASSERT_FALSE(past);
  EXPECT_EQ(past.error().text, "the MPI library reported success but moved 16 of 40 bytes: end of file?");
  EXPECT_TRUE(file->close());
}

TEST(OneRankMpiioViewedFile, FullFileSystemIsSeen) {
  if (mpi::mpi_io_component() == "ompio") GTEST_SKIP() << "OMPIO answers success when a write fails, and then hangs";
  const test::SmallFileSystem small("size=1m");
  if (!small.mounted()) GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  Bench bench(small.path(), nullptr);
  const auto backend = bench.make("mpiio");
  std::vector<std::byte> data(400'000);
  const auto file = opened_viewed(*backend, OpenMode::create);
  for (const auto pointer : {Pointer::individual, Pointer::together})
    EXPECT_TRUE(file->move(Direction::write, pointer, data));
  const Status full = file->move(Direction::write, Pointer::together, data);
  ASSERT_FALSE(full);
  EXPECT_TRUE(full.error().errno_value == ENOSPC || full.error().errno_value == EIO) << line_of(full);
  EXPECT_FALSE(file->sync());
  EXPECT_TRUE(file->close());
}

/// The first ranks open a file together; the last one goes its own way meanwhile, also where one of them fails.
TEST(MpiMpiioViewedFile, AFileCanBeOpenedAmongSomeRanks) {
  Bench bench;
  const int ranks = bench.world().size();
  const bool inside = ranks == 1 || bench.world().rank() < ranks - 1;
  const mpi::Comm group = bench.world().all().split(inside ? 0 : 1, bench.world().rank());
  for (const char* name : {"mpiio", "fault"}) {
    const Values eio{{"inner", std::string("mpiio")}, {"operation", std::string("write")}, {"rank", 0}};
    const auto backend = bench.make(name, std::string(name) == "fault" ? eio : Values{});
    if (inside) {
      auto file = backend->open_viewed({name, OpenMode::create, true, 0, true, &group}, {});
      ASSERT_TRUE(file) << line_of(file);
      FileView view;
      view.array = mpi::FileArray{
          40, {static_cast<std::uint64_t>(group.size())}, {1}, {static_cast<std::uint64_t>(group.rank())}};
      ASSERT_TRUE((*file)->set_view(view, {}));
      const bool fails = std::string(name) == "fault" && bench.world().rank() == 0;
      EXPECT_EQ(write_words(**file, Pointer::together, group.rank(), 2).has_value(), !fails);
      EXPECT_EQ((*file)->sync().has_value(), !fails);
      EXPECT_TRUE((*file)->close());
    }
    bench.world().all().barrier();
  }
  const auto extents = bench.make("mpiio")->inspect("mpiio");
  ASSERT_TRUE(extents);
  EXPECT_EQ(extents->size_bytes, static_cast<std::uint64_t>(std::max(1, ranks - 1)) * 80);
}

}  // namespace ullage::mpiio_viewed_file_test
