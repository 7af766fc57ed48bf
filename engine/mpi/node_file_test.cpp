// SPDX-License-Identifier: Apache-2.0
#include "mpi/node_file.hpp"

#include <gtest/gtest.h>

#include <iterator>

#include "storage/test_support.hpp"

namespace ullage::node_file_test {

constexpr const char* name = "ullage-test";
constexpr std::uint64_t bytes = 4096;

/// Where another file of this process would be taken for the node's by its number alone.
NodeFilePlace under_number_of(NodeFilePlace place, int descriptor) {
  place.descriptor = descriptor;
  return place;
}

/// And by its inode.
NodeFilePlace as_if_made_here(const NodeFilePlace& place, int descriptor) {
  struct stat facts{};
  EXPECT_EQ(fstat(descriptor, &facts), 0);
  NodeFilePlace taken = under_number_of(place, descriptor);
  taken.device = facts.st_dev;
  taken.inode = facts.st_ino;
  taken.bytes = static_cast<std::uint64_t>(facts.st_size);
  return taken;
}

class NodeFile : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = make_node_file(name, bytes);
    ASSERT_TRUE(made) << test::line_of(made);
    made_ = std::move(*made);
  }
  void expect_refused(const NodeFilePlace& place) const {
    const auto opened = open_node_file(name, place);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().kind, ErrorKind::environment);
    EXPECT_NE(to_line(opened.error()).find("/fd/" + std::to_string(place.descriptor) + ": another file is here"),
              std::string::npos)
        << to_line(opened.error());
  }

  test::TempFolder folder_;
  NewNodeFile made_;
};

TEST_F(NodeFile, IsOpenedForWritingByItsPlace) {
  const auto opened = open_node_file(name, made_.place);
  ASSERT_TRUE(opened) << test::line_of(opened);
  const auto here = SharedMemory::map(made_.file, 0, bytes);
  const auto there = SharedMemory::map(*opened, 0, bytes);
  ASSERT_TRUE(here && there);
  there->bytes().back() = std::byte{'y'};
  EXPECT_EQ(here->bytes().back(), std::byte{'y'});
}

TEST_F(NodeFile, ForeignFileUnderItsNumberIsLeftAsItIs) {
  const std::string path = folder_.path() + "/victim";
  const std::string precious(2 * bytes, 'p');
  std::ofstream(path) << precious;
  const Descriptor victim(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(victim);
  expect_refused(under_number_of(made_.place, victim.get()));
  expect_refused(as_if_made_here(made_.place, victim.get()));
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), precious);
}

TEST_F(NodeFile, MemoryOfThatNameWithAnotherKeyIsForeign) {
  const auto other = make_node_file(name, bytes);
  ASSERT_TRUE(other);
  EXPECT_NE(other->place.key, made_.place.key);
  expect_refused(as_if_made_here(made_.place, other->file.get()));
  const auto own = SharedMemory::map(other->file, 0, bytes);
  ASSERT_TRUE(own);
  EXPECT_TRUE(
      std::equal(other->place.key.begin(), other->place.key.end(), reinterpret_cast<const char*>(own->bytes().data())));
}

TEST_F(NodeFile, MemoryOfAnotherNameIsForeign) {
  const Descriptor other(memfd_create("somebody's", MFD_CLOEXEC));
  ASSERT_TRUE(other);
  ASSERT_EQ(pwrite(other.get(), made_.place.key.data(), made_.place.key.size(), 0), std::ssize(made_.place.key));
  expect_refused(as_if_made_here(made_.place, other.get()));
}

/// Opening a FIFO for one direction waits for the other, and a device does as it likes.
TEST_F(NodeFile, FifoOrDeviceIsNotWaitedFor) {
  const std::string path = folder_.path() + "/fifo";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const Descriptor fifo(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(fifo);
  expect_refused(as_if_made_here(made_.place, fifo.get()));
  const Descriptor device(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(device);
  expect_refused(as_if_made_here(made_.place, device.get()));
}

TEST_F(NodeFile, NothingUnderItsNumberIsAnError) {
  const int number = fcntl(made_.file.get(), F_DUPFD_CLOEXEC, 500);
  ASSERT_GE(number, 500);
  ASSERT_EQ(close(number), 0);
  const auto opened = open_node_file(name, under_number_of(made_.place, number));
  ASSERT_FALSE(opened);
  EXPECT_NE(to_line(opened.error()).find("nothing is here"), std::string::npos);
}

TEST(MpiNodeFile, AllRanksOfANodeHaveOneFileOfZeros) {
  const mpi::World world;
  const auto file = share_node_file(world.node(), name, bytes);
  ASSERT_TRUE(file) << test::line_of(file);
  const auto memory = SharedMemory::map(*file, 0, bytes);
  ASSERT_TRUE(memory);
  EXPECT_TRUE(std::ranges::all_of(memory->bytes(), [](std::byte b) { return b == std::byte{0}; }));
  world.node().barrier();
  const auto place = static_cast<std::size_t>(world.topology().rank_on_node);
  memory->bytes()[place] = static_cast<std::byte>(1 + place);
  world.node().barrier();
  for (std::size_t i = 0; i < static_cast<std::size_t>(world.topology().ranks_on_node); ++i)
    EXPECT_EQ(memory->bytes()[i], static_cast<std::byte>(1 + i));
}

}  // namespace ullage::node_file_test
