// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/vpic/memory.hpp"

#include <algorithm>
#include <utility>

#include "base/count.hpp"

namespace ullage {
namespace {

/// Returns the places of a variable in contiguous order: each begins at a page.
std::uint64_t places_of(std::uint64_t capacity) { return round_up(capacity, ParticleMemory::step_shift); }

}  // namespace

std::size_t ParticleMemory::bytes_for(std::uint64_t capacity) {
  return static_cast<std::size_t>(places_of(capacity) * particle_bytes);
}

ParticleMemory::ParticleMemory(const ParticleLayout& layout, std::uint64_t capacity, std::uint64_t key,
                               std::span<std::byte> memory)
    : layout_(layout),
      capacity_(capacity),
      key_(key),
      memory_(memory.first(bytes_for(capacity))),
      variable_stride_(layout.memory == ParticleOrder::contiguous
                           ? static_cast<std::size_t>(places_of(capacity) * value_bytes)
                           : static_cast<std::size_t>(value_bytes)),
      value_stride_(layout.memory == ParticleOrder::contiguous ? static_cast<std::size_t>(value_bytes)
                                                               : static_cast<std::size_t>(particle_bytes)) {}

/// Ranks' elements do not overlap.
ElementRun ParticleMemory::run_of(std::size_t variable, std::uint64_t rank, std::uint64_t particle) const {
  return {key_, variable, particle_variables[variable].type, rank * of_all_steps(layout_) + particle, value_stride_};
}

std::span<std::byte> ParticleMemory::values(std::size_t variable, std::uint64_t place, std::uint64_t count) const {
  return {value(variable, place), static_cast<std::size_t>((count - 1) * value_stride_ + value_bytes)};
}

void ParticleMemory::fill(std::uint64_t rank) const {
  for (std::size_t variable = 0; variable < particle_variables.size(); ++variable)
    fill_elements(run_of(variable, rank, 0), values(variable, 0, capacity_));
}

ParticleCheck ParticleMemory::check(std::uint64_t rank, std::uint64_t step, const ParticleChoice& choice) const {
  ParticleCheck found;
  for (std::size_t variable = 0; variable < particle_variables.size(); ++variable)
    for (std::uint64_t run = 0; run < choice.runs; ++run) {
      const std::uint64_t first = run * choice.stride;
      ElementCheck check = check_elements(run_of(variable, rank, step * step_shift + first),
                                          values(variable, run * choice.run, choice.run));
      found.wrong_values += check.wrong_elements;
      if (check.first && !found.first)
        found.first = WrongParticle{variable, first + check.first->element, std::move(*check.first)};
    }
  return found;
}

}  // namespace ullage
