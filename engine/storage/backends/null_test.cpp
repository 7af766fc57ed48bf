// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::null_test {

TEST(NullBackend, TicksForEveryTransferAndStoresNothing) {
  const mpi::World world;
  const auto* entry = Registry<BackendEntry>::instance().find("null");
  const auto backend = *entry->make({}, {&world, nullptr});
  EXPECT_FALSE(backend->capabilities().path);
  EXPECT_FALSE(backend->capabilities().data);
  const auto file = *backend->open({"any", OpenMode::create, true, 0});
  test::Transfers transfers(5, 4096, 1);
  transfers.poison();
  test::RunningMeter meter;
  ASSERT_TRUE(file->transfer(Direction::read, transfers.extents(), *meter));
  EXPECT_EQ(meter->operations(), 5U);
  EXPECT_EQ(meter->bytes(), 5U * 4096);
  EXPECT_EQ(transfers.extents()[0].data[0], std::byte{0xee});
  EXPECT_TRUE(file->sync());
  EXPECT_TRUE(file->close());
  EXPECT_FALSE(backend->inspect("any"));
  EXPECT_EQ(backend->remove_file("any").error().kind, ErrorKind::unsupported);
}

TEST(NullBackend, BeginsNoneAfterTheMeterSaidStop) {
  const mpi::World world;
  const auto backend = *Registry<BackendEntry>::instance().find("null")->make({}, {&world, nullptr});
  const auto file = *backend->open({});
  const test::Transfers transfers(5, 512, 1);
  const std::atomic<bool> stop = true;
  Meter meter(stop);
  meter.start(now_ns());
  ASSERT_TRUE(file->transfer(Direction::write, transfers.extents(), meter));
  EXPECT_EQ(meter.operations(), 1U);
}

TEST(NullBackend, FilesWithViewsMoveNothingAtOnce) {
  const mpi::World world;
  const auto backend = *Registry<BackendEntry>::instance().find("null")->make({}, {&world, nullptr});
  EXPECT_TRUE(backend->capabilities().views);
  const auto file = *backend->open_viewed({"any", OpenMode::create, true, 0}, {{"a", "hint"}});
  std::array<std::byte, 16> data{};
  EXPECT_TRUE(file->set_view({8, 16, 0, 1}, {}));
  EXPECT_TRUE(file->set_hints({}));
  for (const auto pointer : {Pointer::individual, Pointer::together, Pointer::ordered})
    EXPECT_TRUE(file->move(Direction::read, pointer, data));
  EXPECT_EQ(data, (std::array<std::byte, 16>{}));
  EXPECT_TRUE(file->hints_granted().empty());
  EXPECT_TRUE(file->sync());
  EXPECT_TRUE(file->close());
}

}  // namespace ullage::null_test
