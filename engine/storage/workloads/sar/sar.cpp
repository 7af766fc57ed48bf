// SPDX-License-Identifier: Apache-2.0
// Workload `sar`: the I/O of a pipeline of radar images: raw data in, images stored on a grid, pairs of them compared,
// and what was found looked up again.
#include <array>
#include <memory>
#include <string>

#include "storage/backend.hpp"
#include "storage/workloads/sar/detect.hpp"
#include "storage/workloads/sar/parameters.hpp"
#include "storage/workloads/sar/retrieve.hpp"
#include "storage/workloads/sar/whole_files.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

class Sar final : public Workload {
 public:
  Sar(const SarParameters& parameters, const StorageContext& context) : state_(parameters, context) {}

  void find_peers() override { find_sources(state_); }

  [[nodiscard]] LocalSteps begin() override {
    LocalSteps steps{{"check alignment", [this] { return check_alignment(); }}};
    if (!makes_files()) return steps;
    append(steps, steps_to_make_tree(state_.context, state_.dataset));
    steps.push_back({"make directories", [this] { return make_directories(); }});
    return steps;
  }

  [[nodiscard]] std::size_t phases() const override { return makers.size(); }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override { return makers.at(index)(state_); }

  [[nodiscard]] LocalSteps end(bool whole) override {
    if (!makes_files() || (state_.context.keep && whole)) return {};
    return steps_to_remove_tree(state_.context, state_.dataset);
  }

 private:
  template <class Phase>
  [[nodiscard]] static std::unique_ptr<PhaseWork> made(const SarState& state) {
    return std::make_unique<Phase>(state);
  }
  using Maker = std::unique_ptr<PhaseWork> (*)(const SarState&);
  static constexpr std::array<Maker, 5> makers{made<GeneratePhase>, made<FormPhase>, made<StorePhase>,
                                               made<RetrievePhase>, made<DetectPhase>};

  /// Names in memory, on a target without a path, need neither directories nor a manifest.
  [[nodiscard]] bool makes_files() const {
    return state_.context.folder != nullptr && state_.context.backend->names() != nullptr;
  }

  /// Rows of sub-images begin at any pixel, and records follow each other.
  [[nodiscard]] Status check_alignment() const {
    if (state_.capabilities.alignment_bytes == 1) return {};
    return fail(environment_error("backend",
                                  "uses direct I/O in units of " + std::to_string(state_.capabilities.alignment_bytes) +
                                      " bytes, but rows of sub-images begin at any pixel; leave direct out"));
  }

  /// Dealt out to the ranks that share the folder.
  [[nodiscard]] Status make_directories() const {
    for (std::uint64_t location = 0; location < state_.files().directory_count(); ++location) {
      if (!state_.makes(location)) continue;
      const std::string name = state_.in_dataset(state_.files().directory_path(location));
      if (auto status = state_.context.backend->make_directory(name); !status) return status;
    }
    return {};
  }

  SarState state_;
};

const Registered<WorkloadEntry> registered_sar{{
    .description = {.name = "sar",
                    .doc =
                        "Stores radar images on a grid of locations, reads pairs of them and parts of them again, and "
                        "keeps what was found: the I/O of SSCA #3.",
                    .parameters = specs_of(SarParameters::table())},
    .work = StorageWork{
        .check =
            [](const Values& values, const Capabilities& capabilities, const PlannedLayout& layout,
               const std::string& pointer) {
              return check_sar(SarParameters::from(values), capabilities, layout, pointer);
            },
        .needs = [](const Values& values,
                    const PlannedLayout& layout) { return needs_of_sar(SarParameters::from(values), layout); },
        .make = [](const Values& values, const StorageContext& context) -> std::unique_ptr<Workload> {
          return std::make_unique<Sar>(SarParameters::from(values), context);
        },
        .uses_dataset = nullptr,
        .needs_one_folder =
            [](const Values& values) { return SarParameters::from(values).read_back != ReadBack::own; }},
}};

}  // namespace
}  // namespace ullage
