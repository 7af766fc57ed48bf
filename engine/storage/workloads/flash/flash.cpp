// SPDX-License-Identifier: Apache-2.0
// Workload `flash`: the checkpoint and plot files of an astrophysical code with adaptive blocks, and the restart.
#include "storage/workloads/flash/flash.hpp"

#include "storage/workloads/flash/phase.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t room_for_format = std::uint64_t{1} << 20;  // what a library writes besides the arrays

class Flash final : public Workload {
 public:
  Flash(const FlashParameters& parameters, const StorageContext& context) : parameters_(parameters), context_(context) {
    const auto rank = static_cast<std::uint64_t>(context.world->rank());
    state_.parameters = &parameters_;
    state_.context = &context_;
    state_.capabilities = context.backend->capabilities();
    state_.dataset = shared_file_of(context);
    state_.layout = parameters_.layout(static_cast<std::uint64_t>(context.world->size()));
    state_.arrays = state_.layout.arrays();
    state_.first_block = flash_blocks_before(parameters_.blocks, rank);
    state_.blocks = flash_blocks(parameters_.blocks, rank);
  }

  [[nodiscard]] LocalSteps begin() override {
    LocalSteps steps{
        {"check format", [this] { return check_format(context_, parameters_.format == FileFormat::arrays); }}};
    if (makes_tree(context_)) append(steps, steps_to_make_tree(context_, state_.dataset));
    return steps;
  }
  [[nodiscard]] std::size_t phases() const override { return parameters_.restart ? 2 : 1; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    return std::make_unique<FlashPhase>(state_, index == 0 ? Direction::write : Direction::read);
  }
  [[nodiscard]] LocalSteps end(bool whole) override { return steps_to_end_tree(context_, state_.dataset, whole); }

 private:
  FlashParameters parameters_;
  StorageContext context_;
  FlashState state_;
};

const Registered<WorkloadEntry> registered_flash{on_storage<FlashParameters>({
    .name = "flash",
    .doc = "Writes the checkpoint or a plot file of a code with adaptive blocks (FLASH), and reads it "
           "again.",
    .check = check_flash_parameters,
    .needs = needs_of_flash,
    .make = workload_of<Flash>,
    .needs_one_folder = always,
})};

}  // namespace

Table<FlashParameters> FlashParameters::table() {
  using P = FlashParameters;
  return {
      choice("file", &P::file,
             "Write a checkpoint of 24 unknowns, or a plot file of 4 unknowns at the centres or the corners of cells."),
      count("cells", &P::cells, {1, 512}, "Give a block this many cells in each of the three directions."),
      count("blocks", &P::blocks, {0, 1e9},
            "Give each rank this many blocks; 0 means 80 + (rank mod 3), as the original."),
      count("plot_real_bytes", &P::plot_real_bytes, {4, 8},
            "Write the reals of plot files with this many bytes: 4, or 8 as older versions did."),
      choice("format", &P::format,
             "Keep the arrays behind a header of our own in a plain file (raw), or as arrays of the backend's format."),
      flag("sync", &P::sync, "Sync the file within the time, after the last unknown."),
      flag("restart", &P::restart, "Read the file again as a restart does."),
      choice("cache", &P::cache, "Before the restart, drop the file from the page cache (drop), or do nothing (none)."),
      choice("verify", &P::verify, nothing_or_all(),
             "Choose what to verify of what the restart has read: nothing, or all."),
  };
}

Status check_flash_parameters(const FlashParameters& p, const Capabilities& capabilities, const PlannedLayout& layout,
                              const std::string& pointer) {
  if (p.plot_real_bytes != 4 && p.plot_real_bytes != 8)
    return fail(bad_plan(pointer + "/plot_real_bytes", "must be 4 or 8"));
  if (p.format == FileFormat::arrays && !capabilities.arrays)
    return fail(bad_plan(pointer + "/format", "must be raw: this backend has no arrays; take backend 'hdf5'"));
  if (p.verify == Verify::full && !capabilities.data)
    return fail(bad_plan(pointer + "/verify", "must be none: this backend holds no data"));
  if (needs_of_flash(p, layout).bytes > most_file_bytes)
    return fail(bad_plan(pointer + "/blocks", "makes a file of more than 4e18 bytes with cells and the ranks"));
  return {};
}

Needs needs_of_flash(const FlashParameters& parameters, const PlannedLayout& layout) {
  const FlashLayout file = parameters.layout(static_cast<std::uint64_t>(layout.ranks));
  return file_needs(1, Count(file.total_blocks) * file.block_bytes() + FlashLayout::header_bytes +
                           (parameters.format == FileFormat::arrays ? room_for_format : 0));
}

}  // namespace ullage
