// SPDX-License-Identifier: Apache-2.0
// Workload `vpic`: the particles of a plasma code, a file of all its time steps, and the reading side of an analysis.
#include "storage/workloads/vpic/vpic.hpp"

#include "storage/workloads/vpic/phase.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t room_for_format = std::uint64_t{1} << 20;  // what a library writes besides the arrays

Table<VpicParameters> vpic_sizes() {
  using P = VpicParameters;
  return {
      count("particles", &P::particles, {1, 1e12}, "Give each rank this many particles of 32 bytes."),
      count("steps", &P::steps, {1, 1e6},
            "Move the particles of this many time steps, one behind the other in the file."),
      choice("memory", &P::memory,
             "Keep each variable of all particles in one piece of memory (contiguous), or all variables of a particle "
             "together (interleaved)."),
      choice("file", &P::file,
             "Keep each variable of all particles in one piece of the file (contiguous), or all variables of a "
             "particle together (interleaved)."),
      seconds("compute_s", &P::compute_s, {0, 3600},
              "Sleep for this long after each step but the last, in place of a computation; 0 means not at all."),
  };
}

Table<VpicParameters> vpic_conditions() {
  using P = VpicParameters;
  return {
      choice("format", &P::format,
             "Keep the values behind a header of our own in a plain file (raw), or as arrays of the backend's format."),
      flag("sync", &P::sync, "Sync the file within the time, after the last step."),
      choices("phases", &P::phases, "Choose the phases: write, and read after it."),
      choice("read", &P::read,
             "Read all particles of a rank (full), the first ones (partial), or runs of them (strided)."),
      count("read_particles", &P::read_particles, {1, 1e12}, "With read partial, read so many particles of a rank."),
      count("run", &P::run, {1, 1e12}, "With read strided, read runs of this many particles."),
      count("stride", &P::stride, {1, 1e12}, "With read strided, begin a run every so many particles."),
      choice("read_back", &P::read_back,
             "Read the particles that a rank of the next node has written (other-node), the next rank (other-rank), or "
             "the rank itself (own). On one node, other-node means the next rank, and the result says so."),
      choice("cache", &P::cache,
             "Before reading, drop the file from the nodes' page caches (drop), or do nothing (none)."),
      choice("verify", &P::verify,
             "Choose what to verify: nothing, the step that is read last (kept), or all. What no phase reads is read "
             "for it after the time."),
  };
}

Status check_read(const VpicParameters& p, const std::string& pointer) {
  if (!begin_with_write(p.phases)) return fail(bad_plan(pointer + "/phases", "must be write, or write and then read"));
  const std::string most = "must be at most the " + std::to_string(p.particles) + " particles of a rank";
  if (p.read == VpicRead::partial && p.read_particles > p.particles)
    return fail(bad_plan(pointer + "/read_particles", most));
  if (p.read != VpicRead::strided) return {};
  if (p.run > p.particles) return fail(bad_plan(pointer + "/run", most));
  if (p.stride < p.run) return fail(bad_plan(pointer + "/stride", "must be at least the particles of a run"));
  return {};
}

constexpr int next_one = 1;  // a node, or a rank, further

class Vpic final : public Workload {
 public:
  Vpic(const VpicParameters& parameters, const StorageContext& context) {
    state_.parameters = parameters;
    state_.context = context;
    state_.capabilities = context.backend->capabilities();
    state_.layout = state_.parameters.layout(static_cast<std::uint64_t>(context.world->size()));
    state_.dataset = shared_file_of(context);
  }

  void find_peers() override {
    state_.source = find_data_source(*state_.context.world, state_.parameters.read_back, next_one);
  }
  [[nodiscard]] LocalSteps begin() override {
    LocalSteps steps{{"check format", [this] { return check_backend(); }}};
    if (makes_tree(state_.context)) append(steps, steps_to_make_tree(state_.context, state_.dataset));
    return steps;
  }
  [[nodiscard]] std::size_t phases() const override { return state_.parameters.phases.size(); }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    return std::make_unique<VpicPhase>(state_, state_.parameters.phases[index]);
  }
  [[nodiscard]] LocalSteps end(bool whole) override { return steps_to_end_tree(state_.context, state_.dataset, whole); }

 private:
  /// What a backend's files hold, and whether it converts, is known of the backend itself, also of one that is wrapped.
  [[nodiscard]] Status check_backend() const {
    const bool has_arrays = state_.parameters.format == FileFormat::arrays;
    if (auto status = check_format(state_.context, has_arrays); !status) return status;
    if (has_arrays || !state_.layout.converts() || state_.capabilities.scattered) return {};
    return fail(environment_error("memory", "must be as the file: this backend does not convert"));
  }

  VpicState state_;
};

const Registered<WorkloadEntry> registered_vpic{on_storage<VpicParameters>({
    .name = "vpic",
    .doc = "Writes the particles of a plasma code (VPIC), step after step with a computation in "
           "between, and reads them again as an analysis does (BD-CATS).",
    .check = check_vpic,
    .needs = needs_of_vpic,
    .make = workload_of<Vpic>,
    .needs_one_folder = always,
})};

}  // namespace

Table<VpicParameters> VpicParameters::table() { return joined<VpicParameters>(vpic_sizes(), vpic_conditions()); }

ParticleChoice VpicParameters::choice() const {
  switch (read) {
    case VpicRead::partial:
      return first_particles(read_particles);
    case VpicRead::strided:
      return strided_particles(particles, run, stride);
    case VpicRead::full:
      break;
  }
  return first_particles(particles);
}

Status check_vpic(const VpicParameters& p, const Capabilities& capabilities, const PlannedLayout& layout,
                  const std::string& pointer) {
  if (auto status = check_read(p, pointer); !status) return status;
  if (p.format == FileFormat::arrays && !capabilities.arrays)
    return fail(bad_plan(pointer + "/format", "must be raw: this backend has no arrays; take backend 'hdf5'"));
  if (p.format == FileFormat::raw && p.memory != p.file && !capabilities.scattered)
    return fail(bad_plan(pointer + "/memory", "must be '" + word_of(p.file) +
                                                  "' as in the file: this backend does not convert; take 'mpiio'"));
  if (p.verify != Verify::none && !capabilities.data)
    return fail(bad_plan(pointer + "/verify", "must be none: this backend holds no data"));
  if (Count(p.particles) * p.steps * static_cast<std::uint64_t>(layout.ranks) * particle_bytes > most_file_bytes)
    return fail(bad_plan(pointer + "/particles", "makes a file of more than 4e18 bytes"));
  return {};
}

Needs needs_of_vpic(const VpicParameters& parameters, const PlannedLayout& layout) {
  const ParticleLayout file = parameters.layout(static_cast<std::uint64_t>(layout.ranks));
  return file_needs(1, file.file_bytes() + (parameters.format == FileFormat::arrays ? room_for_format : 0));
}

}  // namespace ullage
