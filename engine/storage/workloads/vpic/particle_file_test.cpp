// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/vpic/particle_file.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::vpic_particle_file_test {
namespace {

using test::Bench;
using test::line_of;

/// A file of another form is not read as if it were of this one.
TEST(ParticleFile, AnotherFormIsRefused) {
  Bench bench;
  const auto backend = bench.make("posix");
  ParticleLayout layout;
  layout.particles = 10;
  const auto opened = [&](OpenMode mode) {
    return ParticleFile::open(*backend, {"f", mode, false, layout.file_bytes()}, layout, VpicFormat::raw,
                              {.text = layout.header(), .name = "f"});
  };
  auto file = opened(OpenMode::create);
  ASSERT_TRUE(file) << line_of(file);
  EXPECT_TRUE(file->close());
  auto again = opened(OpenMode::read);
  ASSERT_TRUE(again) << line_of(again);
  EXPECT_TRUE(again->close());
  layout.file = ParticleOrder::interleaved;
  const auto other = opened(OpenMode::read);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::verification);
}

}  // namespace
}  // namespace ullage::vpic_particle_file_test
