// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/vpic/layout.hpp"

#include <algorithm>
#include <utility>

#include "base/count.hpp"

namespace ullage {
namespace {

std::string group_of(std::uint64_t step) { return "Timestep_" + std::to_string(step) + "/"; }

}  // namespace

std::string word(ParticleOrder order) { return order == ParticleOrder::contiguous ? "contiguous" : "interleaved"; }

const std::vector<RecordField>& particle_record() {
  static const std::vector<RecordField> fields = [] {
    std::vector<RecordField> made;
    made.reserve(particle_variables.size());
    for (const ParticleVariable& variable : particle_variables) made.push_back({variable.name, variable.type});
    return made;
  }();
  return fields;
}

std::vector<ArraySpec> ParticleLayout::arrays() const {
  std::vector<ArraySpec> specs;
  for (std::uint64_t step = 0; step < steps; ++step) {
    if (file == ParticleOrder::interleaved) {
      specs.push_back({group_of(step) + "particles", ElementType::byte, {all_particles()}, particle_record()});
      continue;
    }
    for (const RecordField& field : particle_record()) {
      specs.push_back({group_of(step) + field.name, field.type, {all_particles()}});
      if (memory == ParticleOrder::interleaved) specs.back().fields = {field};
    }
  }
  return specs;
}

std::uint64_t ParticleLayout::offset_bytes(std::uint64_t step, std::size_t variable, std::uint64_t particle) const {
  const std::uint64_t begin = header_bytes + step * step_bytes();
  if (file == ParticleOrder::interleaved) return begin + particle * particle_bytes + variable * value_bytes;
  return begin + (variable * all_particles() + particle) * value_bytes;
}

std::string ParticleLayout::header() const {
  std::string text = "ULLAGE VPIC 1\nsteps " + std::to_string(steps) + "\nparticles " +
                     std::to_string(all_particles()) + "\norder " + word(file) + "\n";
  for (const RecordField& field : particle_record())
    text += field.name + (field.type == ElementType::float32 ? " float32\n" : " int32\n");
  text.resize(header_bytes, '\0');
  return text;
}

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
