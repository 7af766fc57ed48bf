// SPDX-License-Identifier: Apache-2.0
// The words of workload `vpic`.
#pragma once

#include "base/count.hpp"
#include "storage/array_contents.hpp"
#include "storage/array_file.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

// Where particles lie in memory and in a file, and which of them a reader takes. Pure. Source of the form: VPIC-IO and
// BD-CATS-IO of h5bench, as docs/suites/vpic.md tells them.

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
[[nodiscard]] inline const std::vector<RecordField>& particle_record() {
  static const std::vector<RecordField> fields = [] {
    std::vector<RecordField> made;
    made.reserve(particle_variables.size());
    for (const ParticleVariable& variable : particle_variables) made.push_back({variable.name, variable.type});
    return made;
  }();
  return fields;
}

/// Says which of a rank's particles are moved: runs of `run`, each `stride` behind the one before it.
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

inline std::string group_of(std::uint64_t step) { return "Timestep_" + std::to_string(step) + "/"; }

[[nodiscard]] inline Words<ParticleOrder> words_of(ParticleOrder) {
  return {{ParticleOrder::contiguous, "contiguous"}, {ParticleOrder::interleaved, "interleaved"}};
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
  /// Returns the length of a file of our own format.
  [[nodiscard]] std::uint64_t file_bytes() const { return header_bytes + data_bytes(); }
  [[nodiscard]] bool converts() const { return memory != file; }

  /// Arrays of a step in a format that has them: one for each variable, or one of records.
  [[nodiscard]] std::size_t arrays_of_step() const {
    return file == ParticleOrder::contiguous ? particle_variables.size() : 1;
  }

  /// Those of all steps, in order. Where the memory has records, each variable's is one of records of a single field,
  /// so that a library can take it from there.
  [[nodiscard]] std::vector<ArraySpec> arrays() const {
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

  /// Returns where, in our own format, the value of a variable of a particle, counted over all ranks, begins.
  [[nodiscard]] std::uint64_t offset_bytes(std::uint64_t step, std::size_t variable, std::uint64_t particle) const {
    const std::uint64_t begin = header_bytes + step * step_bytes();
    if (file == ParticleOrder::interleaved) return begin + particle * particle_bytes + variable * value_bytes;
    return begin + (variable * all_particles() + particle) * value_bytes;
  }

  /// The header of our own format: what a reader must know to find the values.
  [[nodiscard]] std::string header() const {
    std::string text = "ULLAGE VPIC 1\nsteps " + std::to_string(steps) + "\nparticles " +
                       std::to_string(all_particles()) + "\norder " + word_of(file) + "\n";
    for (const RecordField& field : particle_record())
      text += field.name + (field.type == ElementType::float32 ? " float32\n" : " int32\n");
    text.resize(header_bytes, '\0');
    return text;
  }
};

// The memory of one rank's particles, and what stands in it.

/// A value that is not what was written.
struct WrongParticle {
  std::size_t variable = 0;
  std::uint64_t particle = 0;  // of its rank
  WrongElement value;
};

struct ParticleCheck {
  std::uint64_t wrong_values = 0;
  std::optional<WrongParticle> first;
};

/// Room for `capacity` particles in the order of the memory, at the beginning of `memory`, which outlives it. A writer
/// has the particles of all steps in it: those of a step begin `step_shift` behind those of the step before it, so that
/// every step has other values at every place, and nothing is made between steps.
class ParticleMemory final {
 public:
  static constexpr std::uint64_t step_shift = 1024;  // whole pages in either order

  /// Particles that a writer of all steps has room for.
  [[nodiscard]] static std::uint64_t of_all_steps(const ParticleLayout& layout) {
    return layout.particles + (layout.steps - 1) * step_shift;
  }

  /// Bytes of memory for so many particles.
  [[nodiscard]] static std::size_t bytes_for(std::uint64_t capacity) {
    return static_cast<std::size_t>(places_of(capacity) * particle_bytes);
  }

  ParticleMemory(const ParticleLayout& layout, std::uint64_t capacity, std::uint64_t key, std::span<std::byte> memory)
      : layout_(layout),
        capacity_(capacity),
        key_(key),
        memory_(memory.first(bytes_for(capacity))),
        variable_stride_(layout.memory == ParticleOrder::contiguous
                             ? static_cast<std::size_t>(places_of(capacity) * value_bytes)
                             : static_cast<std::size_t>(value_bytes)),
        value_stride_(layout.memory == ParticleOrder::contiguous ? static_cast<std::size_t>(value_bytes)
                                                                 : static_cast<std::size_t>(particle_bytes)) {}

  [[nodiscard]] std::byte* value(std::size_t variable, std::uint64_t place) const {
    return memory_.data() + variable * variable_stride_ + static_cast<std::size_t>(place) * value_stride_;
  }
  /// Returns the bytes from a variable of a particle to its next one, and from a particle's value to that of the next
  /// particle.
  [[nodiscard]] std::size_t variable_stride_bytes() const { return variable_stride_; }
  [[nodiscard]] std::size_t value_stride_bytes() const { return value_stride_; }

  /// The particles of all steps of that rank; the capacity is of_all_steps().
  void fill(std::uint64_t rank) const {
    for (std::size_t variable = 0; variable < particle_variables.size(); ++variable)
      fill_elements(run_of(variable, rank, 0), values(variable, 0, capacity_));
  }

  void poison() const { poison_elements(memory_); }

  /// Those of one step that were chosen among that rank's, which lie one behind the other from the first place on.
  [[nodiscard]] ParticleCheck check(std::uint64_t rank, std::uint64_t step, const ParticleChoice& choice) const {
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

 private:
  /// Returns the places of a variable in contiguous order: each begins at a page.
  [[nodiscard]] static std::uint64_t places_of(std::uint64_t capacity) { return round_up(capacity, step_shift); }

  /// Ranks' elements do not overlap.
  [[nodiscard]] ElementRun run_of(std::size_t variable, std::uint64_t rank, std::uint64_t particle) const {
    return {key_, variable, particle_variables[variable].type, rank * of_all_steps(layout_) + particle, value_stride_};
  }

  [[nodiscard]] std::span<std::byte> values(std::size_t variable, std::uint64_t place, std::uint64_t count) const {
    return {value(variable, place), static_cast<std::size_t>((count - 1) * value_stride_ + value_bytes)};
  }

  const ParticleLayout& layout_;
  std::uint64_t capacity_;
  std::uint64_t key_;
  std::span<std::byte> memory_;
  std::size_t variable_stride_;
  std::size_t value_stride_;
};

enum class VpicRead { full, partial, strided };
[[nodiscard]] inline Words<VpicRead> words_of(VpicRead) {
  return {{VpicRead::full, "full"}, {VpicRead::partial, "partial"}, {VpicRead::strided, "strided"}};
}

struct VpicParameters {
  std::uint64_t particles = std::uint64_t{8} << 20;
  std::uint64_t steps = 5;
  ParticleOrder memory = ParticleOrder::contiguous;
  ParticleOrder file = ParticleOrder::contiguous;
  double compute_s = 0;
  FileFormat format = FileFormat::raw;
  bool sync = true;
  std::vector<Direction> phases{Direction::write, Direction::read};
  VpicRead read = VpicRead::full;
  std::uint64_t read_particles = 1;
  std::uint64_t run = 4096;
  std::uint64_t stride = 16384;
  ReadBack read_back = ReadBack::other_node;
  DropCache cache = DropCache::none;
  Verify verify = Verify::full;

  [[nodiscard]] static Table<VpicParameters> table();

  [[nodiscard]] ParticleLayout layout(std::uint64_t ranks) const { return {particles, ranks, steps, memory, file}; }
  /// Those of a rank's particles that are read.
  [[nodiscard]] ParticleChoice choice() const;
  [[nodiscard]] bool reads() const { return phases.size() > 1; }
  /// The computation of a rank in a phase: after each step but the last.
  [[nodiscard]] double emulated_s() const { return static_cast<double>(steps - 1) * compute_s; }
};

[[nodiscard]] Status check_vpic(const VpicParameters& parameters, const Capabilities& capabilities,
                                const PlannedLayout& layout, const std::string& pointer);
[[nodiscard]] Needs needs_of_vpic(const VpicParameters& parameters, const PlannedLayout& layout);

}  // namespace ullage
