// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/vpic/layout.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

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

constexpr std::uint64_t key = 9;

/// A writer's memory and a reader's, of the same order.
class ParticleMemories : public testing::TestWithParam<ParticleOrder> {
 protected:
  ParticleMemories() : layout_{100, 2, 3, GetParam(), ParticleOrder::contiguous} {
    const std::uint64_t capacity = ParticleMemory::of_all_steps(layout_);
    written_.resize(ParticleMemory::bytes_for(capacity));
    read_.resize(ParticleMemory::bytes_for(layout_.particles));
  }
  [[nodiscard]] ParticleMemory writer() { return {layout_, ParticleMemory::of_all_steps(layout_), key, written_}; }
  [[nodiscard]] ParticleMemory reader() { return {layout_, layout_.particles, key, read_}; }

  /// Does what a file does.
  void move(std::uint64_t step, const ParticleChoice& choice) {
    const ParticleMemory from = writer();
    const ParticleMemory to = reader();
    to.poison();
    for (std::size_t variable = 0; variable < particle_variables.size(); ++variable)
      for (std::uint64_t i = 0; i < choice.particles(); ++i)
        std::memcpy(to.value(variable, i), from.value(variable, step * ParticleMemory::step_shift + choice.particle(i)),
                    value_bytes);
  }

  ParticleLayout layout_;
  std::vector<std::byte> written_;
  std::vector<std::byte> read_;
};

TEST_P(ParticleMemories, EveryStepAndChoiceIsKnownAgain) {
  writer().fill(1);
  for (std::uint64_t step = 0; step < layout_.steps; ++step)
    for (const ParticleChoice& choice :
         {first_particles(100), first_particles(7), strided_particles(100, 3, 10), strided_particles(100, 10, 10)}) {
      move(step, choice);
      EXPECT_EQ(reader().check(1, step, choice).wrong_values, 0U);
      const std::uint64_t most = choice.particles() * particle_variables.size();
      EXPECT_GT(reader().check(0, step, choice).wrong_values, most * 9 / 10) << "another rank's";
      EXPECT_GT(reader().check(1, (step + 1) % 3, choice).wrong_values, most * 9 / 10) << "another step's";
    }
}

TEST_P(ParticleMemories, AWrongValueIsNamed) {
  writer().fill(0);
  const ParticleChoice choice = strided_particles(100, 3, 10);
  move(2, choice);
  *reader().value(5, 7) ^= std::byte{4};
  const ParticleCheck found = reader().check(0, 2, choice);
  EXPECT_EQ(found.wrong_values, 1U);
  ASSERT_TRUE(found.first);
  EXPECT_EQ(found.first->variable, 5U);
  EXPECT_EQ(found.first->particle, 21U);
}

TEST_P(ParticleMemories, VariablesAreNoOnesTwins) {
  writer().fill(0);
  move(0, first_particles(100));
  for (std::uint64_t i = 0; i < 100; ++i) std::swap(*reader().value(0, i), *reader().value(1, i));
  EXPECT_GT(reader().check(0, 0, first_particles(100)).wrong_values, 150U);
}

INSTANTIATE_TEST_SUITE_P(Orders, ParticleMemories,
                         testing::Values(ParticleOrder::contiguous, ParticleOrder::interleaved),
                         [](const auto& order) { return word(order.param); });

}  // namespace

}  // namespace ullage::vpic_layout_test
