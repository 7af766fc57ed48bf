// SPDX-License-Identifier: Apache-2.0
// Workload `metadata`: small files and directories in mdtest's model of a tree and items.
#include "storage/workloads/metadata/metadata.hpp"

#include <unistd.h>

#include "storage/workloads/metadata/phase.hpp"
#include "storage/workloads/metadata/tree_workload.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

using Kind = MetadataPhaseKind;

/// A phase by its word; what it does to each item, where it stands in mdtest's row of strides, whether names change.
struct PhaseFacts {
  Kind kind;
  const char* word;
  MetadataOperation operation;
  std::uint64_t strides;
  bool changes_names;
};

constexpr std::array<PhaseFacts, 13> phase_facts{{
    {Kind::tree_create, "tree-create", MetadataOperation::mkdir, 0, true},
    {Kind::mkdir, "mkdir", MetadataOperation::mkdir, 0, true},
    {Kind::create, "create", MetadataOperation::create, 0, true},
    {Kind::stat, "stat", MetadataOperation::stat, 1, false},
    {Kind::read, "read", MetadataOperation::read, 2, false},
    {Kind::rename, "rename", MetadataOperation::rename, 1, true},
    {Kind::readdir, "readdir", MetadataOperation::readdir, 0, false},
    {Kind::chmod, "chmod", MetadataOperation::chmod, 1, true},
    {Kind::truncate, "truncate", MetadataOperation::truncate, 1, true},
    {Kind::open, "open", MetadataOperation::open, 1, false},
    {Kind::unlink, "unlink", MetadataOperation::unlink, 3, true},
    {Kind::rmdir, "rmdir", MetadataOperation::rmdir, 3, true},
    {Kind::tree_remove, "tree-remove", MetadataOperation::rmdir, 0, true},
}};

const PhaseFacts& facts_of(Kind kind) { return phase_facts.at(static_cast<std::size_t>(kind)); }

Words<Kind> phase_words() {
  Words<Kind> words;
  for (const PhaseFacts& phase : phase_facts) words.emplace_back(phase.kind, phase.word);
  return words;
}
Words<ItemOrder> order_words() { return {{ItemOrder::sequential, "sequential"}, {ItemOrder::random, "random"}}; }
Words<MetadataSync> sync_words() {
  return {{MetadataSync::none, "none"},
          {MetadataSync::file, "file"},
          {MetadataSync::directory, "directory"},
          {MetadataSync::filesystem, "filesystem"}};
}
Words<MetadataVerify> verify_words() {
  return {{MetadataVerify::none, "none"}, {MetadataVerify::full, "full"}, {MetadataVerify::timed, "timed"}};
}

constexpr Bounds count_bounds{1, 1e12};

Table<MetadataParameters> tree_and_items() {
  using P = MetadataParameters;
  return {
      choices("phases", &P::phases, phase_words(), "Run these phases in each repetition, in this order."),
      choice("item", &P::item, {{ItemKind::file, "file"}, {ItemKind::directory, "directory"}},
             "Choose the items of the tree: files, or directories (mkdir and rmdir)."),
      count("items", &P::items, count_bounds, "Make this many items on each rank."),
      count("items_per_directory", &P::items_per_directory, {0, 1e12},
            "Put this many items of a rank into a directory and fill one directory after the other; 0 means spread "
            "evenly."),
      count("depth", &P::depth, {0, 64}, "Make this many levels of directories below the root of a tree."),
      count("branching", &P::branching, {1, 1e6}, "Make this many subdirectories in each directory."),
      flag("leaf_only", &P::leaf_only, "Put items into the deepest directories only."),
      flag("unique_directory", &P::unique_directory, "Make a tree for each rank. If false, all ranks share one tree."),
      bytes("write_bytes", &P::write_bytes, {0, 1e9}, "Write this many bytes to each new file."),
      bytes("read_bytes", &P::read_bytes, {0, 1e9}, "Read this many bytes of each file."),
      count("stride", &P::stride, {0, 1e6},
            "Use the items of the rank (or node, where there are several) this many places further. This holds for "
            "stat, rename, chmod, truncate and open; read goes twice as far, unlink and rmdir three times. 0 means its "
            "own."),
      choice("order", &P::order, order_words(),
             "Choose the order in which a rank visits existing items. With random it is a permutation, different on "
             "each rank."),
      count("order_seed", &P::order_seed, {0, 9e15}, "Set the seed of order random."),
  };
}

Table<MetadataParameters> conditions() {
  using P = MetadataParameters;
  return {
      seconds("stonewall_s", &P::stonewall_s, {0, 1e7},
              "Let a phase over items begin no item after this many seconds; 0 means no limit."),
      flag("wear_out", &P::wear_out,
           "After the stonewall, let every rank continue to the largest count that any rank has reached."),
      seconds("wear_out_limit_s", &P::wear_out_limit_s, {0, 1e7},
              "Limit wear_out to this many seconds after the stonewall; 0 means no limit."),
      choice("sync", &P::sync, sync_words(),
             "Choose what the phases that change something sync: nothing, or each new file before its close. They can "
             "also sync each directory, or the file system once a node, in a stage after the last item."),
      choice("cache", &P::cache,
             "Choose what to do before each phase that changes nothing: nothing, or /proc/sys/vm/drop_caches including "
             "names (needs root)."),
      choice("verify", &P::verify, verify_words(),
             "Choose what to verify of the data read: nothing, every byte by a further pass after the timer, or every "
             "byte within the measured time."),
  };
}

bool is_of_directories(Kind kind) { return kind == Kind::mkdir || kind == Kind::rmdir; }
bool is_of_files(Kind kind) {
  return kind == Kind::create || kind == Kind::unlink || kind == Kind::read || kind == Kind::truncate ||
         kind == Kind::open;
}

Status check_phase(const MetadataParameters& p, std::size_t index, const std::string& pointer) {
  const Kind kind = p.phases[index];
  const std::string here = pointer + "/phases/" + std::to_string(index);
  if (is_of_directories(kind) && p.item != ItemKind::directory) return fail(bad_plan(here, "needs item directory"));
  if (is_of_files(kind) && p.item != ItemKind::file) return fail(bad_plan(here, "needs item file"));
  if (kind == Kind::tree_create && index > 0) return fail(bad_plan(here, "must come first: it makes the dataset"));
  if (kind == Kind::tree_remove && index + 1 < p.phases.size())
    return fail(bad_plan(here, "must come last: it removes the dataset"));
  if (kind == Kind::read && p.read_bytes > p.write_bytes)
    return fail(bad_plan(pointer + "/read_bytes", "is more than write_bytes"));
  return {};
}

Status check_phases(const MetadataParameters& p, const std::string& pointer) {
  for (std::size_t i = 0; i < p.phases.size(); ++i)
    if (auto status = check_phase(p, i, pointer); !status) return status;
  return {};
}

Status check_sizes(const MetadataParameters& p, std::uint64_t ranks, const std::string& pointer) {
  const TreeShape shape = p.shape(ranks);
  if (shape.directory_count() > TreeShape::most_directories)
    return fail(bad_plan(pointer + "/depth", "with this branching makes more than " +
                                                 std::to_string(TreeShape::most_directories) + " directories"));
  const double holds = static_cast<double>(shape.items_in_directory()) * static_cast<double>(shape.holding_count());
  if (holds < static_cast<double>(p.items))
    return fail(bad_plan(pointer + "/items", "do not fit into " + std::to_string(shape.holding_count()) +
                                                 " directories of " + std::to_string(p.items_per_directory)));
  return {};
}

class MetadataWorkload final : public TreeWorkload<MetadataParameters, MetadataState> {
 public:
  MetadataWorkload(const MetadataParameters& parameters, const StorageContext& context)
      : TreeWorkload(parameters, context, parameters.shape(static_cast<std::uint64_t>(context.world->size()))) {
    state_.shape = *state_.dataset.tree;
  }

  void find_peers() override { find_sources(state_); }

  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    return std::make_unique<MetadataPhase>(state_, parameters_.phases[index]);
  }

 private:
  [[nodiscard]] bool changes_dataset() const override { return std::ranges::any_of(parameters_.phases, changes_names); }
  [[nodiscard]] bool is_whole() const override { return state_.has_tree && !state_.partly_removed; }

  /// Returns what every case that works on this tree must have in common.
  [[nodiscard]] Json layout() const {
    Json layout = to_json(state_.shape);
    layout["write_bytes"] = parameters_.write_bytes;
    return layout;
  }

  [[nodiscard]] Status find_dataset() override {
    const auto facts = facts_of_dataset(context_, layout());
    if (!facts) return fail(facts.error());
    state_.data_key = (*facts)["key"];
    state_.items = (*facts)["items"];
    state_.renamed = (*facts)["renamed"];
    state_.has_tree = true;
    return {};
  }

  [[nodiscard]] Status enter_dataset() const override {
    return context_.datasets->enter(context_.dataset, {{"workload", "metadata"},
                                                       {"layout", layout()},
                                                       {"key", state_.data_key},
                                                       {"items", state_.items},
                                                       {"renamed", state_.renamed}});
  }
};

Needs needs_of(const MetadataParameters& parameters, const PlannedLayout& layout) {
  const auto ranks = static_cast<std::uint64_t>(layout.ranks);
  const TreeShape shape = parameters.shape(ranks);
  return file_needs(Count(parameters.items) * ranks, parameters.write_bytes,
                    Count(shape.directory_count()) * shape.trees());
}

const Registered<WorkloadEntry> registered_metadata{on_storage<MetadataParameters>({
    .name = "metadata",
    .doc = "Makes, inspects and removes small files and directories, in mdtest's model of a tree and items.",
    .check = check_metadata,
    .needs = needs_of,
    .make = workload_of<MetadataWorkload>,
    .uses_dataset = [](const MetadataParameters& p) { return !p.makes_dataset(); },
    .needs_one_folder = [](const MetadataParameters& p) { return !p.unique_directory || p.stride != 0; },
})};

}  // namespace

Table<MetadataParameters> MetadataParameters::table() {
  return joined<MetadataParameters>(tree_and_items(), conditions());
}

TreeShape MetadataParameters::shape(std::uint64_t ranks) const {
  return {ranks,     items,     items_per_directory, depth,
          branching, leaf_only, unique_directory,    item == ItemKind::directory};
}

Status check_metadata(const MetadataParameters& p, const Capabilities& capabilities, const PlannedLayout& layout,
                      const std::string& pointer) {
  if (!capabilities.metadata) return fail(bad_plan(pointer, "this backend has no metadata operations; use posix"));
  if (auto status = check_phases(p, pointer); !status) return status;
  if (auto status = check_sizes(p, static_cast<std::uint64_t>(layout.ranks), pointer); !status) return status;
  if (auto status = check_wall(p, pointer); !status) return status;
  if (p.sync == MetadataSync::file && p.item != ItemKind::file)
    return fail(bad_plan(pointer + "/sync", "file needs item file; directory and filesystem do not"));
  if (p.cache == DropCache::drop && geteuid() != 0) return fail(bad_plan(pointer + "/cache", "drop needs root"));
  return {};
}

std::string word(Kind kind) { return facts_of(kind).word; }
MetadataOperation operation_of(Kind kind) { return facts_of(kind).operation; }
std::uint64_t strides_of(Kind kind) { return facts_of(kind).strides; }
bool changes_names(Kind kind) { return facts_of(kind).changes_names; }

}  // namespace ullage
