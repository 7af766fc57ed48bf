// SPDX-License-Identifier: Apache-2.0
// Where particles lie in memory and in a file, and which of them a reader takes. Pure. Source of the form: VPIC-IO and
// BD-CATS-IO of h5bench, as docs/suites/vpic.md tells them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "storage/array_file.hpp"

namespace ullage {

/// All values of a variable one behind the other, or all variables of a particle.
enum class ParticleOrder { contiguous, interleaved };

struct ParticleVariable {
  const char* name;
  ElementType type;
};
/// Position, momentum and two numbers by which a particle is known again; 4 bytes each.
inline constexpr std::array<ParticleVariable, 8> particle_variables{{{"x", ElementType::float32},
                                                                     {"y", ElementType::float32},
                                                                     {"z", ElementType::float32},
                                                                     {"px", ElementType::float32},
                                                                     {"py", ElementType::float32},
                                                                     {"pz", ElementType::float32},
                                                                     {"id1", ElementType::int32},
                                                                     {"id2", ElementType::int32}}};
inline constexpr std::uint64_t value_bytes = 4;
inline constexpr std::uint64_t particle_bytes = value_bytes * particle_variables.size();

/// All variables as the fields of a record.
[[nodiscard]] const std::vector<RecordField>& particle_record();

/// Which of a rank's particles are moved: runs of `run`, each `stride` behind the one before it.
struct ParticleChoice {
  std::uint64_t run = 0;
  std::uint64_t stride = 0;
  std::uint64_t runs = 1;

  [[nodiscard]] std::uint64_t particles() const { return run * runs; }
  /// The number, among the rank's, of the one that is the `index`-th of those chosen.
  [[nodiscard]] std::uint64_t particle(std::uint64_t index) const { return index / run * stride + index % run; }
  [[nodiscard]] bool operator==(const ParticleChoice&) const = default;
};
[[nodiscard]] constexpr ParticleChoice first_particles(std::uint64_t count) { return {count, count, 1}; }
/// Whole runs alone, as many as fit; `run` <= `particles`.
[[nodiscard]] constexpr ParticleChoice strided_particles(std::uint64_t particles, std::uint64_t run,
                                                         std::uint64_t stride) {
  return {run, stride, (particles - run) / stride + 1};
}

/// A file of `steps` time steps, each with the particles of all ranks in the order of the ranks.
struct ParticleLayout {
  std::uint64_t particles = 0;  // of a rank
  std::uint64_t ranks = 1;
  std::uint64_t steps = 1;
  ParticleOrder memory = ParticleOrder::contiguous;
  ParticleOrder file = ParticleOrder::contiguous;

  static constexpr std::uint64_t header_bytes = 4096;  // of our own format

  [[nodiscard]] std::uint64_t all_particles() const { return particles * ranks; }
  [[nodiscard]] std::uint64_t step_bytes() const { return all_particles() * particle_bytes; }
  [[nodiscard]] std::uint64_t data_bytes() const { return steps * step_bytes(); }
  /// The size of a file of our own format.
  [[nodiscard]] std::uint64_t file_bytes() const { return header_bytes + data_bytes(); }
  [[nodiscard]] bool converts() const { return memory != file; }

  /// Arrays of a step in a format that has them: one for each variable, or one of records.
  [[nodiscard]] std::size_t arrays_of_step() const {
    return file == ParticleOrder::contiguous ? particle_variables.size() : 1;
  }
  /// Those of all steps, in order. Where the memory has records, each variable's is one of records of a single field,
  /// so that a library can take it from there.
  [[nodiscard]] std::vector<ArraySpec> arrays() const;
  /// In our own format: where the value of a variable of a particle, counted over all ranks, begins.
  [[nodiscard]] std::uint64_t offset_bytes(std::uint64_t step, std::size_t variable, std::uint64_t particle) const;
  /// The header of our own format: what a reader must know to find the values.
  [[nodiscard]] std::string header() const;
};

[[nodiscard]] std::string word(ParticleOrder order);

}  // namespace ullage
