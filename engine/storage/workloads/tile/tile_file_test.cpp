// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/tile/tile_file.hpp"

#include <gtest/gtest.h>

#include "storage/backends/hdf5_arrays.hpp"
#include "storage/test_support.hpp"

namespace ullage::tile_file_test {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

/// Memory that takes no room until it is touched.
class Reserved : Pinned {
 public:
  explicit Reserved(std::size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Reserved() {
    if (data_ != MAP_FAILED) munmap(data_, bytes_);
  }
  [[nodiscard]] std::span<std::byte> bytes() const { return {static_cast<std::byte*>(data_), bytes_}; }
  [[nodiscard]] bool there() const { return data_ != MAP_FAILED; }

 private:
  std::size_t bytes_;
  void* data_;
};

/// Notes what calls were asked to move, none of which moves anything.
struct Noted {
  std::vector<std::span<std::byte>> pieces;
  std::vector<std::vector<ArrayRange>> ranges;
  std::vector<std::uint64_t> frames;
};

class NotedView final : public ViewedFile {
 public:
  explicit NotedView(Noted& noted) : noted_(noted) {}
  [[nodiscard]] Status set_view(const FileView&, const Map&) override { return {}; }
  [[nodiscard]] Status set_hints(const Map&) override { return {}; }
  [[nodiscard]] Status move(Direction, Pointer, std::span<std::byte> data) override {
    noted_.pieces.push_back(data);
    return {};
  }
  [[nodiscard]] Status sync() override { return {}; }
  [[nodiscard]] Status close() override { return {}; }

 private:
  Noted& noted_;
};

class NotedArray final : public ArrayFile {
 public:
  explicit NotedArray(Noted& noted) : noted_(noted) {}
  [[nodiscard]] Status transfer(Direction, std::span<const ArrayRows> operations, Meter& meter) override {
    for (const ArrayRows& rows : operations) {
      std::uint64_t bytes = rows.rows;
      for (const ArrayRange& range : rows.within) bytes *= range.extent;
      noted_.pieces.emplace_back(rows.data, bytes);
      noted_.ranges.emplace_back(rows.within.begin(), rows.within.end());
      noted_.frames.push_back(rows.first);
      (void)meter.completed(bytes);
    }
    return {};
  }
  [[nodiscard]] Status sync() override { return {}; }
  [[nodiscard]] Status close() override { return {}; }

 private:
  Noted& noted_;
};

class NotedBackend final : public Backend {
 public:
  NotedBackend(Noted& noted, bool sees) : noted_(noted), sees_(sees) {}
  [[nodiscard]] Capabilities capabilities() const override { return {.views = sees_, .arrays = !sees_}; }
  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest&) override { return fail(bad_plan("", "none")); }
  [[nodiscard]] Result<std::unique_ptr<ViewedFile>> open_viewed(const OpenRequest&, const Map&) override {
    return std::make_unique<NotedView>(noted_);
  }
  [[nodiscard]] Result<std::unique_ptr<ArrayFile>> open_arrays(const OpenRequest&,
                                                               std::span<const ArraySpec> arrays) override {
    specs.assign(arrays.begin(), arrays.end());
    return std::make_unique<NotedArray>(noted_);
  }
  std::vector<ArraySpec> specs;

 private:
  Noted& noted_;
  bool sees_;
};

/// Two tiles of 5 GiB side by side, of elements of 4 KiB.
TileShape large_shape() {
  TileShape shape;
  shape.axes = {{{1, 5, 0}, {1, 512, 0}, {2, 512, 3}}};
  shape.element_bytes = 4096;
  shape.frames = 3;
  return shape;
}

TEST(TileFile, ATileOf5GiBIsMovedInCallsOf1GiBAtMost) {
  const TileShape shape = large_shape();
  ASSERT_EQ(shape.tile_bytes(), 5 * gib);
  const Reserved memory(static_cast<std::size_t>(shape.tile_bytes()));
  if (!memory.there()) GTEST_SKIP() << "5 GiB of addresses cannot be reserved here";
  for (const bool sees : {true, false})
    for (const bool together : {true, false}) {
      Noted noted;
      NotedBackend backend(noted, sees);
      auto file = open_tiles(backend, {{}, &shape, 1, together});
      ASSERT_TRUE(file) << test::line_of(file);
      EXPECT_TRUE((*file)->look_at_tile());
      EXPECT_TRUE((*file)->move(Direction::write, 2, memory.bytes()));
      EXPECT_EQ(noted.pieces.size(), 5U);
      const std::byte* next = memory.bytes().data();
      for (const auto& piece : noted.pieces) {
        EXPECT_EQ(piece.data(), next);
        EXPECT_LE(piece.size(), gib);
        next += piece.size();
      }
      EXPECT_EQ(next, memory.bytes().data() + memory.bytes().size());
      if (sees) continue;
      EXPECT_EQ(backend.specs.front().dimensions, (std::vector<std::uint64_t>{3, 5, 512, (2 * 512 - 3) * 4096}));
      for (std::size_t i = 0; i < noted.ranges.size(); ++i) {
        EXPECT_EQ(noted.frames[i], 2U);
        EXPECT_EQ(noted.ranges[i][0].begin, i);
        EXPECT_EQ(noted.ranges[i][2].begin, (512U - 3) * 4096);
        EXPECT_EQ(noted.ranges[i][2].extent, 512U * 4096);
      }
    }
}

/// A tile of a little more than 1 GiB of zeros, with a number at the end of some of its rows, through real files.
class OneRankTileFile : public testing::TestWithParam<const char*> {
 protected:
  static constexpr std::array<std::uint64_t, 4> marked{0, 511, 512, 527};  // rows before and behind 1 GiB

  static TileShape shape() {
    TileShape shape;
    shape.axes = {{{1, 1, 0}, {1, 528, 0}, {2, 512, 0}}};
    shape.element_bytes = 4096;
    return shape;
  }

  static void expect_marks(const TileShape& tiles, const std::string& path) {
    std::uint64_t begin = 0;
    if (std::string(GetParam()) == "hdf5") {
      const auto data = find_hdf5_data(*hdf5_library(), path, "frames");
      ASSERT_TRUE(data) << test::line_of(data);
      begin = data->front().offset_bytes;
    }
    std::ifstream stream(path, std::ios::binary);
    for (const std::uint64_t row : marked) {
      std::uint64_t found = ~row;
      stream.seekg(
          static_cast<std::streamoff>(begin + tiles.row_offset_bytes(1, 0, row) + tiles.row_bytes() - sizeof found));
      stream.read(reinterpret_cast<char*>(&found), sizeof found);
      ASSERT_TRUE(stream);
      EXPECT_EQ(found, row);
    }
  }
};

TEST_P(OneRankTileFile, ATileBeyond1GiBIsWhereItBelongs) {
  if (std::string(GetParam()) == "hdf5" && !hdf5_library()) GTEST_SKIP() << hdf5_library().error().text;
  const TileShape tiles = shape();
  test::Bench bench;
  const auto space = std::filesystem::space(bench.folder().path());
  if (space.available < 2 * tiles.file_bytes()) GTEST_SKIP() << "the file takes 2 GiB of room";
  const Reserved memory(static_cast<std::size_t>(tiles.tile_bytes()));
  ASSERT_TRUE(memory.there());
  const std::uint64_t row_bytes = tiles.row_bytes();
  for (const std::uint64_t row : marked)
    std::memcpy(&memory.bytes()[static_cast<std::size_t>((row + 1) * row_bytes - sizeof row)], &row, sizeof row);
  const auto backend = bench.make(GetParam());
  OpenRequest request{"f", OpenMode::create, true, tiles.file_bytes()};
  auto file = open_tiles(*backend, {request, &tiles, 1, false});
  ASSERT_TRUE(file) << test::line_of(file);
  ASSERT_TRUE((*file)->look_at_tile());
  const Status moved = (*file)->move(Direction::write, 0, memory.bytes());
  EXPECT_TRUE(moved) << test::line_of(moved);
  EXPECT_TRUE((*file)->close());
  expect_marks(tiles, bench.path("f"));
}

INSTANTIATE_TEST_SUITE_P(Backends, OneRankTileFile, testing::Values("mpiio", "hdf5"));

}  // namespace ullage::tile_file_test
