// SPDX-License-Identifier: Apache-2.0
// Workload `mixed-metadata`: sets of small files that turn over while they are looked at and read, as in md-workbench.
#include "storage/workloads/metadata/mixed_metadata.hpp"

#include "storage/workloads/metadata/mixed_phase.hpp"
#include "storage/workloads/metadata/tree_workload.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

using MixedKind = MixedMetadataPhaseKind;

constexpr Bounds share_bounds{0, 1000};

Table<MixedMetadataParameters> objects_and_operations() {
  using P = MixedMetadataParameters;
  return {
      choices("phases", &P::phases, "Run these phases in each repetition, in this order."),
      count("sets", &P::sets, {1, 1e6}, "Make this many sets, each one directory, on each rank."),
      count("objects", &P::objects, {1, 1e9}, "Keep this many files in each set all the time."),
      bytes("object_bytes", &P::object_bytes, {0, 1e9}, "Give each file this many bytes."),
      count("rounds", &P::rounds, {1, 1e9},
            "Run this many rounds in phase bench. A round visits every set once and performs as many operations there "
            "as the shares say."),
      count("stat_share", &P::stat_share, share_bounds, "Perform this many stats in a visit."),
      count("read_share", &P::read_share, share_bounds,
            "Perform this many reads in a visit: open, read the whole file, close."),
      count("delete_share", &P::delete_share, share_bounds,
            "Delete this many of the set's oldest files in a visit. It must equal create_share and be less than "
            "objects."),
      count("create_share", &P::create_share, share_bounds, "Create, write and close this many new files in a visit."),
      choice("order", &P::order, {{VisitOrder::looped, "looped"}, {VisitOrder::random, "random"}},
             "Choose the order of the operations of a visit: stats, reads, deletes, creates, as md-workbench does, or "
             "random, which differs for each rank and visit."),
      count("order_seed", &P::order_seed, {0, 9e15}, "Set the seed of order random."),
      count("stride", &P::stride, {0, 1e6},
            "In phase bench, work on the sets of the rank this many places further. With several nodes of equally many "
            "ranks, work on those of the node. Each further bench adds as many places. 0 means its own."),
      number("waiting_factor", &P::waiting_factor, {0, 1000},
             "Pause in phase bench after each operation, for this multiple of the time that the operation took."),
  };
}

Table<MixedMetadataParameters> mixed_conditions() {
  using P = MixedMetadataParameters;
  return {
      seconds("stonewall_s", &P::stonewall_s, {0, 1e7},
              "Let phase bench begin no operation after this many seconds; 0 means no limit."),
      flag("wear_out", &P::wear_out,
           "After the stonewall, let every rank continue to the largest count that any rank has reached."),
      seconds("wear_out_limit_s", &P::wear_out_limit_s, {0, 1e7},
              "Limit wear_out to this many seconds after the stonewall; 0 means no limit."),
      choice("verify", &P::verify, nothing_or_all(),
             "Choose what to verify of the data read, outside the timer: nothing, or every byte."),
  };
}

Status check_phases(const MixedMetadataParameters& p, const std::string& pointer) {
  for (std::size_t i = 0; i < p.phases.size(); ++i) {
    const std::string here = pointer + "/phases/" + std::to_string(i);
    if (p.phases[i] == MixedKind::precreate && i > 0)
      return fail(bad_plan(here, "must come first: it makes the dataset"));
    if (p.phases[i] == MixedKind::cleanup && i + 1 < p.phases.size())
      return fail(bad_plan(here, "must come last: it removes the dataset"));
    if (i > 0 && p.phases[i] == p.phases[i - 1])
      return fail(bad_plan(here, "is listed twice in a row; put a further bench into a separate case"));
  }
  return {};
}

/// As many objects have to come as go: any other shares would fill the file system, or run out of objects.
Status check_shares(const MixedMetadataParameters& p, const std::string& pointer) {
  if (p.stat_share + p.read_share + p.delete_share + p.create_share == 0)
    return fail(bad_plan(pointer + "/stat_share", "must be above 0, since all other shares are 0"));
  if (p.create_share != p.delete_share)
    return fail(bad_plan(pointer + "/create_share",
                         "must be delete_share, " + std::to_string(p.delete_share) + ", so that a set keeps its size"));
  if (p.delete_share >= p.objects)
    return fail(bad_plan(pointer + "/delete_share", "must be less than objects, so that a set is never empty"));
  return {};
}

class MixedMetadata final : public TreeWorkload<MixedMetadataParameters, MixedMetadataState> {
 public:
  MixedMetadata(const MixedMetadataParameters& parameters, const StorageContext& context)
      : TreeWorkload(parameters, context, parameters.tree(static_cast<std::uint64_t>(context.world->size()))) {
    state_.tree = *state_.dataset.tree;
  }

  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    return std::make_unique<MixedMetadataPhase>(state_, parameters_.phases[index]);
  }

 private:
  /// The directories of sets that were emptied are removed at the end.
  [[nodiscard]] bool is_whole() const override { return state_.has_sets; }

  /// Returns what every case that works on these sets must have in common.
  [[nodiscard]] Json layout() const {
    return {{"ranks", state_.tree.ranks},
            {"sets", parameters_.sets},
            {"objects", parameters_.objects},
            {"object_bytes", parameters_.object_bytes}};
  }

  [[nodiscard]] Status find_dataset() override {
    const auto facts = facts_of_dataset(context_, layout());
    if (!facts) return fail(facts.error());
    state_.data_key = (*facts)["key"];
    state_.first = (*facts)["first"];
    state_.benches = (*facts)["benches"];
    state_.has_sets = true;
    return {};
  }

  [[nodiscard]] Status enter_dataset() const override {
    return context_.datasets->enter(context_.dataset, {{"workload", "mixed-metadata"},
                                                       {"layout", layout()},
                                                       {"key", state_.data_key},
                                                       {"first", state_.first},
                                                       {"next", state_.first + parameters_.objects},
                                                       {"benches", state_.benches}});
  }
};

/// In a visit creates may come before deletes.
Needs mixed_needs_of(const MixedMetadataParameters& parameters, const PlannedLayout& layout) {
  const Count ranks = static_cast<std::uint64_t>(layout.ranks);
  const Count sets = parameters.sets;
  return file_needs((sets * parameters.objects + parameters.create_share) * ranks, parameters.object_bytes,
                    (sets + 1) * ranks);
}

const Registered<WorkloadEntry> registered_mixed_metadata{on_storage<MixedMetadataParameters>({
    .name = "mixed-metadata",
    .doc = "Stats, reads, deletes and creates small files in weighted shares, in sets whose files are "
           "replaced over time, as md-workbench does.",
    .check = on_any_layout(check_mixed_metadata),
    .needs = mixed_needs_of,
    .make = workload_of<MixedMetadata>,
    .uses_dataset = [](const MixedMetadataParameters& p) { return !p.makes_dataset(); },
    .needs_one_folder = [](const MixedMetadataParameters& p) { return p.stride != 0; },
})};

}  // namespace

Table<MixedMetadataParameters> MixedMetadataParameters::table() {
  return joined<MixedMetadataParameters>(objects_and_operations(), mixed_conditions());
}

TreeShape MixedMetadataParameters::tree(std::uint64_t ranks) const {
  constexpr std::uint64_t any_number = std::uint64_t{1} << 53;  // what JSON keeps exactly
  return {
      .ranks = ranks, .items = any_number, .depth = 1, .branching = sets, .leaf_only = true, .unique_directory = true};
}

MixedMetadataShape MixedMetadataParameters::shape() const {
  return {sets, objects, {stat_share, read_share, delete_share, create_share}, order, order_seed};
}

Status check_mixed_metadata(const MixedMetadataParameters& p, const Capabilities& capabilities,
                            const std::string& pointer) {
  if (!capabilities.metadata) return fail(bad_plan(pointer, "this backend has no metadata operations; use posix"));
  if (auto status = check_phases(p, pointer); !status) return status;
  const bool benches = std::ranges::find(p.phases, MixedKind::bench) != p.phases.end();
  if (benches)
    if (auto status = check_shares(p, pointer); !status) return status;
  if (p.stonewall_s > 0 && !benches) return fail(bad_plan(pointer + "/stonewall_s", "needs phase bench"));
  return check_wall(p, pointer);
}

}  // namespace ullage
