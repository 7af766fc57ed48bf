// SPDX-License-Identifier: Apache-2.0
// Workload `tile`: a dense data set in two or three dimensions, a tile of it for each rank, as MPI Tile I/O has it.
#include <memory>
#include <utility>

#include "storage/backend.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "storage/workloads/tile/parameters.hpp"
#include "storage/workloads/tile/phase.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

class Tile final : public Workload {
 public:
  Tile(TileParameters parameters, const StorageContext& context) {
    state_.shape = parameters.shape();
    state_.parameters = std::move(parameters);
    state_.context = context;
    state_.dataset.dataset = context.dataset_name();
    state_.dataset.directory = directory_of_dataset(context.dataset_name());
    state_.dataset.files = 1;
    state_.dataset.side_files = true;
  }

  void find_peers() override {
    const mpi::World& world = *state_.context.world;
    state_.group.emplace(world.all().split(state_.has_tile() ? 0 : 1, world.rank()));
  }

  [[nodiscard]] LocalSteps begin() override {
    LocalSteps steps{{"check backend", [this] {
                        return check_tile_backend(state_.parameters, state_.context.backend->capabilities());
                      }}};
    if (makes_files()) append(steps, steps_to_make_tree(state_.context, state_.dataset));
    return steps;
  }

  [[nodiscard]] std::size_t phases() const override { return state_.parameters.phases.size(); }

  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    return std::make_unique<TilePhase>(state_, state_.parameters.phases[index]);
  }

  [[nodiscard]] LocalSteps end(bool whole) override {
    if (!makes_files() || (state_.context.keep && whole)) return {};
    return steps_to_remove_tree(state_.context, state_.dataset);
  }

 private:
  [[nodiscard]] bool makes_files() const { return state_.holds_data() && state_.context.folder != nullptr; }

  TileState state_;
};

const Registered<WorkloadEntry> registered_tile{{
    .description = {.name = "tile",
                    .doc = "Writes and reads a dense data set in two or three dimensions, a tile of it for each rank, "
                           "with overlap, frame after frame.",
                    .parameters = specs_of(TileParameters::table())},
    .work = StorageWork{
        .check =
            [](const Values& values, const Capabilities& capabilities, const PlannedLayout& layout,
               const std::string& pointer) {
              return check_tile(TileParameters::from(values), capabilities, layout, pointer);
            },
        .needs = [](const Values& values, const PlannedLayout&) { return needs_of_tile(TileParameters::from(values)); },
        .make = [](const Values& values, const StorageContext& context) -> std::unique_ptr<Workload> {
          return std::make_unique<Tile>(TileParameters::from(values), context);
        },
        .uses_dataset = nullptr,
        .needs_one_folder = [](const Values&) { return true; }},
}};

}  // namespace
}  // namespace ullage
