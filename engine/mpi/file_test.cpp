// SPDX-License-Identifier: Apache-2.0
#include "mpi/file.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::mpi::file_test {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

class MpiFile : public testing::Test {
 protected:
  MpiFile() {
    if (world_.rank() == 0) folder_ = std::make_unique<test::TempFolder>();
    path_ = world_.broadcast(folder_ ? folder_->path() : std::string(), 0);
  }
  ~MpiFile() override { world_.barrier(); }
  [[nodiscard]] Result<File> open(const std::string& name, FileAccess access) const {
    return File::open(world_, path_ + "/" + name, access, {});
  }

  Comm world_ = Comm::world();
  std::unique_ptr<test::TempFolder> folder_;
  std::string path_;
};

TEST_F(MpiFile, CountsWhatItMoves) {
  auto file = open("f", FileAccess::create);
  ASSERT_TRUE(file) << test::line_of(file);
  const auto rank = static_cast<std::uint64_t>(world_.rank());
  EXPECT_EQ(file->write_at(rank * 10, bytes_of("0123456789")).value(), 10U);
  EXPECT_EQ(file->write_at_all(0, std::span<const std::byte>()).value(), 0U);
  EXPECT_TRUE(file->sync());
  EXPECT_TRUE(file->close());
  EXPECT_TRUE(file->close()) << "a second time is nothing";

  auto again = open("f", FileAccess::read);
  ASSERT_TRUE(again);
  std::array<std::byte, 10> data{};
  EXPECT_EQ(again->read_at_all(rank * 10, data).value(), 10U);
  EXPECT_EQ(data[3], std::byte{'3'});
  const std::uint64_t end = 10U * static_cast<unsigned>(world_.size());
  EXPECT_EQ(again->read_at(end - 4, data).value(), 4U) << "end of file is a short count";
  EXPECT_EQ(again->read_at(end, data).value(), 0U);
  EXPECT_TRUE(again->close());
}

/// Records of three pieces of two bytes: each rank's lie one behind the other in the file.
TEST_F(MpiFile, PutsScatteredMemoryTogether) {
  const auto rank = static_cast<std::uint64_t>(world_.rank());
  std::string text = "aaAA..bbBB..ccCC..";
  const ScatteredMemory memory{.data = reinterpret_cast<std::byte*>(text.data()),
                               .records = 2,
                               .pieces = 3,
                               .piece_bytes = 2,
                               .piece_stride_bytes = 6,
                               .record_stride_bytes = 2};
  auto file = open("f", FileAccess::create);
  ASSERT_TRUE(file) << test::line_of(file);
  EXPECT_EQ(file->write_at(rank * 24, memory).value(), 12U);
  EXPECT_EQ(file->write_at_all(rank * 24 + 12, memory).value(), 12U);
  EXPECT_EQ(file->write_at_all(0, memory.part(0, 0)).value(), 0U);
  EXPECT_TRUE(file->close());
  auto again = open("f", FileAccess::read);
  ASSERT_TRUE(again);
  std::string found(24, '?');
  EXPECT_EQ(again->read_at(rank * 24, std::as_writable_bytes(std::span(found))).value(), 24U);
  EXPECT_EQ(found, "aabbccAABBCCaabbccAABBCC");
  const std::string written = text;
  std::ranges::fill(text, '.');
  EXPECT_EQ(again->read_at(rank * 24, memory.part(1, 1)).value(), 6U);
  EXPECT_EQ(text, "..aa....bb....cc..");
  EXPECT_EQ(again->read_at_all(rank * 24, memory).value(), 12U);
  EXPECT_EQ(text, written);
  EXPECT_TRUE(again->close());
}

TEST_F(MpiFile, FailuresAreValues) {
  const auto missing = open("none", FileAccess::read);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().operation, "open");
  EXPECT_EQ(missing.error().where, path_ + "/none");
  EXPECT_FALSE(missing.error().text.empty());
  auto file = open("f", FileAccess::create);
  ASSERT_TRUE(file);
  std::array<std::byte, 10> data{};
  EXPECT_FALSE(file->read_at(0, data)) << "it is write-only";
  EXPECT_TRUE(file->close());
  EXPECT_FALSE(File::open(Comm::self(), path_ + "/f", FileAccess::create, {})) << "it is there";
}

TEST_F(MpiFile, AnyCharactersInThePath) {
  const std::string name = "a b'c\"d<x>e;é";
  auto file = open(name, FileAccess::create);
  ASSERT_TRUE(file) << test::line_of(file);
  EXPECT_TRUE(file->close());
  EXPECT_TRUE(std::filesystem::exists(path_ + "/" + name));
}

/// Eight bytes that say who wrote them, and as which of his.
std::vector<std::uint64_t> words_of(int rank, std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> words(count);
  for (std::size_t i = 0; i < count; ++i) words[i] = (static_cast<std::uint64_t>(rank) << 32U) + first + i;
  return words;
}

TEST_F(MpiFile, AViewScattersChunksOverTheRanks) {
  auto file = open("f", FileAccess::create_update);
  ASSERT_TRUE(file) << test::line_of(file);
  constexpr std::size_t chunk = 3;  // words
  const FileView view{80, chunk * 8, world_.rank(), world_.size()};
  ASSERT_TRUE(file->set_view(view, {}));
  for (std::uint64_t call = 0; call < 2; ++call) {  // two chunks a call
    const auto words = words_of(world_.rank(), call * 2 * chunk, 2 * chunk);
    EXPECT_EQ(file->write_all(std::as_bytes(std::span(words))).value(), words.size() * 8);
  }
  EXPECT_EQ(file->write_all({}).value(), 0U);
  ASSERT_TRUE(file->sync());
  world_.barrier();
  ASSERT_TRUE(file->set_view({80, 0, 0, 1}, {}));
  const auto ranks = static_cast<std::size_t>(world_.size());
  std::vector<std::uint64_t> all(4 * chunk * ranks);
  EXPECT_EQ(file->read_all(std::as_writable_bytes(std::span(all))).value(), all.size() * 8);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t writer = i / chunk % ranks;
    EXPECT_EQ(all[i], (std::uint64_t{writer} << 32U) + i / chunk / ranks * chunk + i % chunk) << i;
  }
  ASSERT_TRUE(file->set_view(view, {}));
  std::vector<std::uint64_t> own(4 * chunk);
  EXPECT_EQ(file->read(std::as_writable_bytes(std::span(own))).value(), own.size() * 8);
  EXPECT_EQ(own, words_of(world_.rank(), 0, own.size()));
  EXPECT_TRUE(file->close());
  world_.barrier();
  EXPECT_EQ(std::filesystem::file_size(path_ + "/f"), 80 + all.size() * 8);
}

/// Two lines of elements of 3 bytes for each rank, side by side in one array after the other.
TEST_F(MpiFile, AViewOfAnArrayShowsARectangleOfEach) {
  auto file = open("f", FileAccess::create_update);
  ASSERT_TRUE(file) << test::line_of(file);
  const auto rank = static_cast<std::uint64_t>(world_.rank());
  const auto ranks = static_cast<std::uint64_t>(world_.size());
  FileView view{.displacement_bytes = 7};
  view.array = FileArray{3, {2, 4 * ranks}, {2, 4}, {0, 4 * rank}};
  ASSERT_TRUE(file->set_view(view, {}));
  const std::string one(24, static_cast<char>('a' + world_.rank()));
  const std::string two(24, static_cast<char>('A' + world_.rank()));
  EXPECT_EQ(file->write_all(bytes_of(one)).value(), 24U);
  EXPECT_EQ(file->write(bytes_of(two).first(10)).value(), 10U) << "any number of bytes";
  EXPECT_EQ(file->write(bytes_of(two).subspan(10)).value(), 14U);
  ASSERT_TRUE(file->sync());
  EXPECT_TRUE(file->close());
  world_.barrier();
  std::string expected(7, '\0');
  for (const char first : {'a', 'A'})
    for (int line = 0; line < 2; ++line)
      for (int r = 0; r < world_.size(); ++r) expected += std::string(12, static_cast<char>(first + r));
  EXPECT_EQ(test::read_file(path_ + "/f"), expected);

  auto again = open("f", FileAccess::read);
  ASSERT_TRUE(again);
  ASSERT_TRUE(again->set_view(view, {}));
  std::string read(48, '.');
  EXPECT_EQ(again->read_all(std::as_writable_bytes(std::span(read))).value(), 48U);
  EXPECT_EQ(read, one + two);
  ASSERT_TRUE(again->set_view({8, 0, 0, 1}, {})) << "words again";
  EXPECT_EQ(again->read(std::as_writable_bytes(std::span(read)).first(16)).value(), 16U);
  EXPECT_EQ(read.substr(0, 16), expected.substr(8, 16));
  EXPECT_TRUE(again->close());
}

TEST_F(MpiFile, TheSharedPointerKeepsTheOrderOfTheRanks) {
  auto file = open("f", FileAccess::create_update);
  ASSERT_TRUE(file) << test::line_of(file);
  ASSERT_TRUE(file->set_view({16, 0, 0, 1}, {}));
  const auto ranks = static_cast<std::uint64_t>(world_.size());
  for (std::uint64_t call = 0; call < 3; ++call) {
    const auto words = words_of(world_.rank(), call * 5, 5);
    EXPECT_EQ(file->write_ordered(std::as_bytes(std::span(words))).value(), 40U);
  }
  EXPECT_EQ(file->shared_position_bytes().value(), 16 + 3 * 40 * ranks);
  ASSERT_TRUE(file->sync());
  world_.barrier();
  ASSERT_TRUE(file->set_view({16, 0, 0, 1}, {}));
  EXPECT_EQ(file->shared_position_bytes().value(), 16U) << "a view sends all pointers to its beginning";
  world_.barrier();
  std::vector<std::uint64_t> words(5);
  for (std::uint64_t call = 0; call < 3; ++call) {
    EXPECT_EQ(file->read_ordered(std::as_writable_bytes(std::span(words))).value(), 40U);
    EXPECT_EQ(words, words_of(world_.rank(), call * 5, 5));
  }
  EXPECT_TRUE(file->close());
}

TEST_F(MpiFile, OpenForBothHasItsConditionsToo) {
  EXPECT_FALSE(open("f", FileAccess::update));
  world_.barrier();
  auto file = File::open(world_, path_ + "/f", FileAccess::create_update, {}, true);
  ASSERT_TRUE(file) << test::line_of(file);
  EXPECT_TRUE(file->close());
  world_.barrier();
  EXPECT_FALSE(open("f", FileAccess::create_update));
  auto again = File::open(world_, path_ + "/f", FileAccess::update, {}, true);
  ASSERT_TRUE(again) << test::line_of(again);
  EXPECT_TRUE(again->set_hints({}));
  EXPECT_TRUE(again->set_hints(*Info::from({{"cb_buffer_size", "1048576"}})));
  EXPECT_TRUE(again->close());
}

}  // namespace
}  // namespace ullage::mpi::file_test
