// SPDX-License-Identifier: Apache-2.0
// File systems that have room for the data and none for what the library writes about it, or for neither: one line, and
// the next file is fine. That the library ends well after it is seen by the end of this program.
#include "storage/backends/hdf5_room.hpp"

#include <gtest/gtest.h>

#include "storage/hdf5_library.hpp"
#include "storage/test_support.hpp"

namespace ullage::hdf5_room_test {

using namespace test;

constexpr std::uint64_t block_bytes = 64 << 10;  // of each rank

/// Says from when on there is no space at all.
enum class Full { at_open, at_transfer, afterwards };

struct Shortage {
  const char* name;
  Full when;
  Values parameters;
  bool syncs = false;
  bool is_shared = true;
};

void PrintTo(const Shortage& shortage, std::ostream* out) { *out << shortage.name; }

/// A small file system that all ranks see.
class MpiHdf5Room : public testing::TestWithParam<Shortage> {
 protected:
  void SetUp() override {
    if (!hdf5_library()) GTEST_SKIP() << hdf5_library().error().text;
    if (world_.root()) small_.emplace("size=2m");
    path_ = world_.all().broadcast(small_ && small_->mounted() ? small_->path() : "", 0);
    if (path_.empty()) GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  }
  void TearDown() override { world_.all().barrier(); }

  /// Leaves no room, when it is time to.
  void fill_up(Full when) const {
    world_.all().barrier();
    struct statvfs space{};
    if (when == GetParam().when && world_.root() && statvfs(path_.c_str(), &space) == 0)
      std::ofstream(filler()) << std::string(space.f_bavail * space.f_frsize, 'x');
    world_.all().barrier();
  }
  void make_room() const {
    world_.all().barrier();
    if (world_.root()) std::filesystem::remove(filler());
    world_.all().barrier();
  }
  /// The first thing that does not succeed; the file is closed in any case.
  [[nodiscard]] Status move(Backend& backend, const OpenRequest& request, const Transfers& block) const {
    fill_up(Full::at_open);
    const auto file = backend.open(request);
    fill_up(Full::at_transfer);
    if (!file) return fail(file.error());
    RunningMeter meter;
    const bool writes = request.mode != OpenMode::read;
    Status status = (*file)->transfer(writes ? Direction::write : Direction::read, block.extents(), *meter);
    fill_up(Full::afterwards);
    if (GetParam().syncs && status) status = (*file)->sync();
    const Status closed = (*file)->close();
    return status ? closed : status;
  }
  [[nodiscard]] const mpi::World& world() const { return world_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(world_.size()); }
  [[nodiscard]] OpenRequest request(const std::string& name, OpenMode mode, bool shared) const {
    if (shared) return {name, mode, true, block_bytes * ranks()};
    return {name + std::to_string(world_.rank()), mode, false, block_bytes};
  }
  [[nodiscard]] Transfers block(bool shared) const {
    return {1, block_bytes, 1, shared ? static_cast<std::uint64_t>(world_.rank()) * block_bytes : 0};
  }

 private:
  [[nodiscard]] std::string filler() const { return path_ + "/filler"; }
  mpi::World world_;
  std::optional<test::SmallFileSystem> small_;
  std::string path_;
};

/// Does the same where there is room.
Status move_now(Backend& backend, const OpenRequest& request, const Transfers& block) {
  const auto file = backend.open(request);
  if (!file) return fail(file.error());
  RunningMeter meter;
  const bool writes = request.mode != OpenMode::read;
  const Status status = (*file)->transfer(writes ? Direction::write : Direction::read, block.extents(), *meter);
  const Status closed = (*file)->close();
  return status ? closed : status;
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(Hdf5Room, MetadataTakesMoreWithChunks) {
  const std::vector<ArraySpec> arrays{{"a", ElementType::byte, {1'000'000}}};
  const std::uint64_t plain = hdf5_metadata_bytes(arrays, 0);
  EXPECT_GE(plain, 64U << 10);
  EXPECT_GE(hdf5_metadata_bytes(arrays, 100), plain + 10'000 * 32);
}

TEST(Hdf5Room, WritesThatAreDiscardedNeedNoRoomAndChangeNothing) {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/f";
  test::write_file(path, "before");
  test::write_file(folder.path() + "/other", "other");
  const Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  const Descriptor other(open((folder.path() + "/other").c_str(), O_RDWR | O_CLOEXEC));
  discard_writes(path);
  ASSERT_EQ(pwrite(file.get(), "after!", 6, 0), 6);
  ASSERT_EQ(pwrite(other.get(), "OTHER", 5, 0), 5);
  EXPECT_EQ(test::read_file(path), "before");
  EXPECT_EQ(test::read_file(folder.path() + "/other"), "OTHER");
  EXPECT_EQ(fcntl(file.get(), F_GETFD), FD_CLOEXEC);
}

TEST(Hdf5Room, AFullFileSystemIsNamed) {
  const test::TempFolder folder;
  EXPECT_TRUE(check_hdf5_room("open", folder.path() + "/f", 1));
  const auto status = check_hdf5_room("open", folder.path() + "/f", std::uint64_t{1} << 62);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().errno_value, ENOSPC);
  EXPECT_EQ(status.error().where, folder.path() + "/f");
}

TEST_P(MpiHdf5Room, NoSpaceIsOneLineAndTheNextFileIsFine) {
  const bool is_shared = GetParam().is_shared;
  Bench bench(path());
  const auto backend = bench.make("hdf5", GetParam().parameters);
  const std::size_t open_before = open_descriptors();
  const auto full_file = request("full", OpenMode::create, is_shared);
  const Status full = move(*backend, full_file, block(is_shared));
  EXPECT_TRUE(world().all().any(!full && full.error().errno_value == ENOSPC)) << line_of(full);
  EXPECT_EQ(line_of(full).find('\n'), std::string::npos);
  EXPECT_EQ(open_descriptors(), open_before);
  make_room();
  if (!is_shared || world().root()) (void)backend->remove_file(full_file.name);
  world().all().barrier();
  Transfers next = block(is_shared);
  for (const auto mode : {OpenMode::create, OpenMode::read}) {
    if (mode == OpenMode::read) next.poison();
    const Status moved = move_now(*backend, request("next", mode, is_shared), next);
    EXPECT_TRUE(moved) << line_of(moved);
  }
  EXPECT_EQ(next.wrong_bytes(), 0U);
}

const Values aligned{{"alignment_bytes", static_cast<std::int64_t>(block_bytes)}, {"alignment_from_bytes", 4096}};
const Values collective{{"collective", true}, {"collective_metadata", true}};
const Values chunks{{"chunk_bytes", 64}};

INSTANTIATE_TEST_SUITE_P(Shortages, MpiHdf5Room,
                         testing::Values(Shortage{"Superblock", Full::at_open, {}, true},
                                         Shortage{"OwnSuperblock", Full::at_open, {}, true, false},
                                         Shortage{"Data", Full::at_transfer, {}, true},
                                         Shortage{"Sync", Full::afterwards, aligned, true},
                                         Shortage{"CollectiveSync", Full::afterwards, collective, true},
                                         Shortage{"ChunkIndex", Full::afterwards, chunks, true},
                                         Shortage{"Close", Full::afterwards, aligned},
                                         Shortage{"OwnClose", Full::afterwards, aligned, false, false}),
                         [](const auto& told) { return std::string(told.param.name); });

}  // namespace ullage::hdf5_room_test
