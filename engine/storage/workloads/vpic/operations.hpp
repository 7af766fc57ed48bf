// SPDX-License-Identifier: Apache-2.0
// The calls that move the particles of one rank, for all steps. Pure: nothing is moved here.
#pragma once

#include <variant>

#include "base/std.hpp"
#include "storage/array_file.hpp"
#include "storage/backend.hpp"
#include "storage/workloads/vpic/vpic.hpp"

namespace ullage {

/// They stand in the order of the steps, as many of each. In our own format a call moves one run of bytes of the file:
/// from or to memory that lies likewise, or that lies in pieces, which MPI puts together. Of arrays a call moves one
/// variable, or all of a particle.
using ParticleOperations = std::variant<std::vector<Extent>, std::vector<ScatteredExtent>, std::vector<ArrayRows>>;

[[nodiscard]] inline std::size_t count_of(const ParticleOperations& operations) {
  return std::visit([](const auto& all) { return all.size(); }, operations);
}

/// Says whose particles are moved, and between which places: those of `rank`, to or from `memory`. A writer's steps lie
/// `step_places` behind each other in memory; a reader's, with 0, are all read to the same places.
struct ParticleMove {
  const ParticleLayout* layout = nullptr;
  FileFormat format = FileFormat::raw;
  const ParticleMemory* memory = nullptr;
  std::uint64_t rank = 0;
  ParticleChoice choice;
  std::uint64_t step_places = 0;
};

/// One run of particles of one step: in the file, counted over all ranks, and in memory.
struct ParticleStretch {
  std::uint64_t step = 0;
  std::uint64_t particle = 0;
  std::uint64_t place = 0;
  std::uint64_t count = 0;
};

template <class Visit>
void for_each_stretch(const ParticleMove& move, const Visit& visit) {
  const std::uint64_t first = move.rank * move.layout->particles;
  for (std::uint64_t step = 0; step < move.layout->steps; ++step)
    for (std::uint64_t run = 0; run < move.choice.runs; ++run)
      visit(ParticleStretch{step, first + run * move.choice.stride, step * move.step_places + run * move.choice.run,
                            move.choice.run});
}

/// Each variable of a run of particles, or all of them at once where the file has them together.
template <class Visit>
void for_each_piece_of_file(const ParticleMove& move, const Visit& visit) {
  const std::size_t pieces = move.layout->arrays_of_step();
  for_each_stretch(move, [&](const ParticleStretch& stretch) {
    for (std::size_t variable = 0; variable < pieces; ++variable)
      visit(move.layout->offset_bytes(stretch.step, variable, stretch.particle), variable, stretch);
  });
}

inline ParticleOperations plain_extents(const ParticleMove& move) {
  std::vector<Extent> extents;
  const bool together = move.layout->file == ParticleOrder::interleaved;
  const std::uint64_t each = together ? particle_bytes : value_bytes;
  for_each_piece_of_file(move, [&](std::uint64_t offset, std::size_t variable, const ParticleStretch& stretch) {
    extents.push_back(
        {offset, static_cast<std::size_t>(stretch.count * each), move.memory->value(variable, stretch.place)});
  });
  return extents;
}

inline ParticleOperations scattered_extents(const ParticleMove& move) {
  std::vector<ScatteredExtent> extents;
  const bool together = move.layout->file == ParticleOrder::interleaved;
  for_each_piece_of_file(move, [&](std::uint64_t offset, std::size_t variable, const ParticleStretch& stretch) {
    const ScatteredMemory memory{.data = move.memory->value(variable, stretch.place),
                                 .records = stretch.count,
                                 .pieces = together ? particle_variables.size() : 1,
                                 .piece_bytes = value_bytes,
                                 .piece_stride_bytes = move.memory->variable_stride_bytes(),
                                 .record_stride_bytes = move.memory->value_stride_bytes()};
    extents.push_back({offset, memory});
  });
  return extents;
}

/// Call `call` of a step: of the whole record, or of one variable.
inline ArrayRows rows_of_call(const ParticleMove& move, std::uint64_t step, std::size_t call) {
  const ParticleLayout& layout = *move.layout;
  const std::span<const RecordField> record = particle_record();
  const bool of_records = layout.memory == ParticleOrder::interleaved;
  ArrayRows rows;
  rows.array = step * layout.arrays_of_step() + (layout.arrays_of_step() > 1 ? call : 0);
  rows.first = move.rank * layout.particles;
  rows.rows = move.choice.particles();
  rows.data = move.memory->value(of_records ? 0 : call, step * move.step_places);
  if (layout.converts()) rows.memory = of_records ? record : record.subspan(call, 1);
  if (move.choice.runs > 1) {
    rows.run_rows = move.choice.run;
    rows.stride_rows = move.choice.stride;
  }
  return rows;
}

/// Where memory and file differ, makes one call for each variable in either case: a library of arrays has no way to
/// gather a record from several places.
inline ParticleOperations rows_of_arrays(const ParticleMove& move) {
  const ParticleLayout& layout = *move.layout;
  const bool of_records = layout.memory == ParticleOrder::interleaved && layout.file == ParticleOrder::interleaved;
  const std::size_t calls = of_records ? 1 : particle_variables.size();
  std::vector<ArrayRows> rows;
  for (std::uint64_t step = 0; step < layout.steps; ++step)
    for (std::size_t call = 0; call < calls; ++call) rows.push_back(rows_of_call(move, step, call));
  return rows;
}

[[nodiscard]] inline ParticleOperations make_operations(const ParticleMove& move) {
  if (move.format == FileFormat::arrays) return rows_of_arrays(move);
  return move.layout->converts() ? scattered_extents(move) : plain_extents(move);
}

}  // namespace ullage
