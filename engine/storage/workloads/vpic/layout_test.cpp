// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/vpic/layout.hpp"

#include <gtest/gtest.h>

namespace ullage::vpic_layout_test {
namespace {

/// h5bench's usual size: 8 Mi particles a rank, 256 MiB a step.
TEST(ParticleLayout, SizesAreThoseOfTheOriginal) {
  ParticleLayout layout;
  layout.particles = 8U << 20U;
  layout.ranks = 2;
  layout.steps = 5;
  EXPECT_EQ(layout.step_bytes(), 2ULL * 256 << 20U);
  EXPECT_EQ(layout.data_bytes(), 2560ULL << 20U);
  layout.ranks = 100'000;
  EXPECT_EQ(layout.data_bytes(), 5ULL * 100'000 * (256ULL << 20U));
}

TEST(ParticleLayout, ArraysAreOfVariablesOrOfRecords) {
  ParticleLayout layout;
  layout.particles = 7;
  layout.ranks = 3;
  layout.steps = 2;
  auto arrays = layout.arrays();
  ASSERT_EQ(arrays.size(), 16U);
  EXPECT_EQ(arrays[8].name, "Timestep_1/x");
  EXPECT_EQ(arrays[14].name, "Timestep_1/id1");
  EXPECT_EQ(arrays[14].type, ElementType::int32);
  EXPECT_TRUE(arrays[0].fields.empty());
  layout.memory = ParticleOrder::interleaved;
  arrays = layout.arrays();
  EXPECT_EQ(arrays[3].fields, (std::vector<RecordField>{{"px", ElementType::float32}}));
  EXPECT_EQ(moved_row_bytes(arrays[3], particle_record()), 4U);
  layout.file = ParticleOrder::interleaved;
  arrays = layout.arrays();
  ASSERT_EQ(arrays.size(), 2U);
  EXPECT_EQ(arrays[1].name, "Timestep_1/particles");
  EXPECT_EQ(arrays[1].row_bytes(), 32U);
}

TEST(ParticleLayout, TheHeaderTellsTheForm) {
  ParticleLayout layout;
  layout.particles = 7;
  layout.ranks = 3;
  const std::string header = layout.header();
  EXPECT_EQ(header.size(), ParticleLayout::header_bytes);
  EXPECT_TRUE(header.starts_with("ULLAGE VPIC 1\nsteps 1\nparticles 21\norder contiguous\nx float32\n"));
  layout.file = ParticleOrder::interleaved;
  EXPECT_NE(layout.header(), header);
}

}  // namespace
}  // namespace ullage::vpic_layout_test
