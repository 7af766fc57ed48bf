// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/vpic/layout.hpp"

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

}  // namespace ullage
