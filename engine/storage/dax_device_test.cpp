// SPDX-License-Identifier: Apache-2.0
// What is no device, and what is not empty; a device itself is only in the emulated machine of tests/e2e.
#include "storage/dax_device.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::dax_device_test {

TEST(DaxDevice, FirstByteThatIsNotZeroIsFoundAnywhere) {
  std::vector<std::byte> bytes(200'001);
  EXPECT_EQ(first_not_zero(bytes), std::nullopt);
  EXPECT_EQ(first_not_zero({}), std::nullopt);
  for (const std::size_t at : {std::size_t{200'000}, std::size_t{131'072}, std::size_t{65'535}, std::size_t{0}}) {
    bytes[at] = std::byte{1};
    EXPECT_EQ(first_not_zero(bytes), at);
  }
}

TEST(DaxDevice, PartsAreWholeUnitsAndLeaveNoneOut) {
  constexpr std::uint64_t unit = 2 << 20;
  for (const std::uint64_t units : {3U, 7U, 64U}) {
    for (const int parts : {1, 2, 3}) {
      std::uint64_t next = 0;
      for (int index = 0; index < parts; ++index) {
        const DevicePart part = part_of_device(units * unit + 5, unit, index, parts);
        EXPECT_EQ(part.offset_bytes, next);
        EXPECT_EQ(part.bytes % unit, 0U);
        EXPECT_GE(part.bytes, unit);
        next += part.bytes;
      }
      EXPECT_EQ(next, units * unit);
    }
  }
}

TEST(DaxDevice, OtherDevicesAndFilesAreRefused) {
  const test::TempFolder folder;
  const std::string file = folder.path() + "/f", link = folder.path() + "/link";
  test::write_file(file, std::string(4096, '\0'));
  std::filesystem::create_symlink("/dev/zero", link);
  const mpi::World world;
  for (const std::string& path : {file, std::string("/dev/zero")}) {
    const auto device = DaxDevice::open(path, world.node());
    ASSERT_FALSE(device);
    EXPECT_EQ(test::line_of(device), path + ": is no devdax device");
  }
  for (const std::string& path : {link, folder.path() + "/missing"}) {
    const auto device = DaxDevice::open(path, world.node());
    ASSERT_FALSE(device);
    EXPECT_NE(device.error().errno_value, 0) << test::line_of(device);
  }
}

}  // namespace ullage::dax_device_test
