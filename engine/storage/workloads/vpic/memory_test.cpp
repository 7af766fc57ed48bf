// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/vpic/memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace ullage::vpic_memory_test {
namespace {

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
}  // namespace ullage::vpic_memory_test
