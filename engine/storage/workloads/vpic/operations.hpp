// SPDX-License-Identifier: Apache-2.0
// The calls that move the particles of one rank, for all steps. Pure: nothing is moved here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "storage/array_file.hpp"
#include "storage/backend.hpp"
#include "storage/workloads/vpic/layout.hpp"
#include "storage/workloads/vpic/vpic.hpp"

namespace ullage {

/// They stand in the order of the steps, as many of each. In our own format a call moves one run of bytes of the file:
/// from or to memory that lies likewise, or that lies in pieces, which MPI puts together. Of arrays a call moves one
/// variable, or all of a particle.
using ParticleOperations = std::variant<std::vector<Extent>, std::vector<ScatteredExtent>, std::vector<ArrayRows>>;

[[nodiscard]] std::size_t count_of(const ParticleOperations& operations);

/// Says whose particles are moved, and between which places: those of `rank`, to or from `memory`. A writer's steps lie
/// `step_places` behind each other in memory; a reader's, with 0, are all read to the same places.
struct ParticleMove {
  const ParticleLayout* layout = nullptr;
  VpicFormat format = VpicFormat::raw;
  const ParticleMemory* memory = nullptr;
  std::uint64_t rank = 0;
  ParticleChoice choice;
  std::uint64_t step_places = 0;
};

[[nodiscard]] ParticleOperations make_operations(const ParticleMove& move);

}  // namespace ullage
