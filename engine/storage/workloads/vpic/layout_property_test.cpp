// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "storage/workloads/vpic/vpic.hpp"

namespace ullage::vpic_layout_property_test {

ParticleOrder some_order() {
  return *rc::gen::arbitrary<bool>() ? ParticleOrder::contiguous : ParticleOrder::interleaved;
}

ParticleLayout some_layout() {
  ParticleLayout layout;
  layout.particles = *rc::gen::inRange<std::uint64_t>(1, 40);
  layout.ranks = *rc::gen::inRange<std::uint64_t>(1, 6);
  layout.steps = *rc::gen::inRange<std::uint64_t>(1, 5);
  layout.memory = some_order();
  layout.file = some_order();
  return layout;
}

RC_GTEST_PROP(ParticleLayoutProperty, ValuesCoverTheFileOnce, ()) {
  const ParticleLayout layout = some_layout();
  std::vector<int> owners(layout.file_bytes());
  for (std::uint64_t step = 0; step < layout.steps; ++step)
    for (std::uint64_t particle = 0; particle < layout.all_particles(); ++particle)
      for (std::size_t variable = 0; variable < particle_variables.size(); ++variable)
        for (std::uint64_t byte = 0; byte < value_bytes; ++byte)
          ++owners.at(layout.offset_bytes(step, variable, particle) + byte);
  for (std::uint64_t at = 0; at < owners.size(); ++at)
    RC_ASSERT(owners[at] == (at < ParticleLayout::header_bytes ? 0 : 1));
}

RC_GTEST_PROP(ParticleLayoutProperty, ArraysHoldTheBytesOfTheFormula, ()) {
  const ParticleLayout layout = some_layout();
  const auto arrays = layout.arrays();
  RC_ASSERT(arrays.size() == layout.steps * layout.arrays_of_step());
  std::uint64_t bytes = 0;
  std::set<std::string> names;
  for (const ArraySpec& spec : arrays) {
    bytes += spec.size_bytes();
    names.insert(spec.name);
  }
  RC_ASSERT(bytes == layout.data_bytes());
  RC_ASSERT(bytes == layout.steps * layout.ranks * layout.particles * 32);
  RC_ASSERT(names.size() == arrays.size());
}

RC_GTEST_PROP(ParticleChoiceProperty, ChosenParticlesRiseAndStayInTheRank, ()) {
  const std::uint64_t particles = *rc::gen::inRange<std::uint64_t>(1, 200);
  const std::uint64_t run = *rc::gen::inRange<std::uint64_t>(1, particles + 1);
  const std::uint64_t stride = run + *rc::gen::inRange<std::uint64_t>(0, 50);
  const ParticleChoice choice = strided_particles(particles, run, stride);
  RC_ASSERT(choice.particles() >= run);
  std::uint64_t least = 0;
  for (std::uint64_t i = 0; i < choice.particles(); ++i) {
    const std::uint64_t particle = choice.particle(i);
    RC_ASSERT(particle >= least);
    RC_ASSERT(particle / stride == i / run);
    RC_ASSERT(particle % stride == i % run);
    least = particle + 1;
  }
  RC_ASSERT(least <= particles);
  RC_ASSERT(choice.runs * stride + run > particles);  // no further run fits
}

}  // namespace ullage::vpic_layout_property_test
