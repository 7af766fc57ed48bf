// SPDX-License-Identifier: Apache-2.0
// Workload `loader`: shuffled reads of training samples, ahead of accelerators that compute at a set pace.
#include "storage/workloads/loader/loader.hpp"

#include "base/count.hpp"
#include "base/permutation.hpp"
#include "storage/workloads/loader/loader_state.hpp"
#include "storage/workloads/loader/sample_write_phase.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

Table<LoaderParameters> sample_set() {
  using P = LoaderParameters;
  return {
      choice("data", &P::data, {{LoaderData::make, "make"}, {LoaderData::use, "use"}, {LoaderData::none, "none"}},
             "Choose where the samples come from: this case makes them, it uses those of the named dataset, or there "
             "are none because the backend holds no data."),
      count("samples", &P::samples, {1, 1e12}, "Let the training set have this many samples."),
      count("samples_per_file", &P::samples_per_file, {1, 1e6}, "Put this many samples into a file."),
      bytes("sample_bytes", &P::sample_bytes, {1, 1e12}, "Let a sample have this many bytes on average."),
      bytes("deviation_bytes", &P::deviation_bytes, {0, 1e12},
            "Vary the sizes normally, with this standard deviation. Sizes stay within 15/16 of the mean."),
      bytes("unit_bytes", &P::unit_bytes, {1, 1 << 20}, "Round sizes to multiples of this many bytes."),
      count("seed", &P::seed, {}, "Set the seed of the sizes and of the orders."),
  };
}

Table<LoaderParameters> training() {
  using P = LoaderParameters;
  return {
      count("epochs", &P::epochs, {0, 1000}, "Read the samples this many times, each time in another order."),
      count("read_samples", &P::read_samples, {0, 1e12}, "Read only the first this many samples; 0 means all."),
      count("accelerators", &P::accelerators, {0, 1e6},
            "Emulate this many accelerators, dealt out to the ranks; 0 means one for each rank."),
      count("batch", &P::batch, {1, 1e6}, "Let an accelerator take this many samples for a step."),
      seconds("step_s", &P::step_s, {0, 3600}, "Let an accelerator compute for this long with each batch."),
      count("threads", &P::threads, {1, LoaderParameters::most_threads},
            "Read ahead with this many threads for each accelerator."),
      count("ahead", &P::ahead, {1, LoaderParameters::most_ahead},
            "Let the threads read this many batches ahead, and at least two samples each."),
      bytes("transfer_bytes", &P::transfer_bytes, {1, 1 << 30}, "Read a sample in calls of at most this many bytes."),
      choice("cache", &P::cache, {{AdviseCache::none, "none"}, {AdviseCache::advise, "advise"}},
             "Choose what to do before the first epoch: nothing (none), or drop the samples from every node's page "
             "cache (advise)."),
      choice("verify", &P::verify, {{Verify::none, "none"}, {Verify::kept, "kept"}, {Verify::full, "full"}},
             "Choose what to check after each epoch: nothing, the pieces that the buffers hold (kept), or every "
             "sample, which is read again for it (full)."),
  };
}

Status check_data(const LoaderParameters& p, const Capabilities& capabilities, const std::string& pointer) {
  if (!capabilities.data && p.data != LoaderData::none)
    return fail(bad_plan(pointer + "/data", "must be none: the backend holds no data"));
  if (capabilities.data && p.data == LoaderData::none)
    return fail(bad_plan(pointer + "/data", "must be make or use: the backend reads files"));
  if (!capabilities.data && p.verify != Verify::none)
    return fail(bad_plan(pointer + "/verify", "must be none: the backend holds no data to verify"));
  if (p.epochs == 0 && p.data != LoaderData::make)
    return fail(bad_plan(pointer + "/epochs", "must be 1 or more: nothing is made either"));
  return {};
}

Status check_readers(const LoaderParameters& p, const Capabilities& capabilities, std::uint64_t ranks,
                     const std::string& pointer) {
  if (p.epochs == 0) return {};
  const std::uint64_t accelerators = p.accelerators_of(ranks);
  if (accelerators < ranks)
    return fail(
        bad_plan(pointer + "/accelerators", "must be 0 or at least the number of ranks, " + std::to_string(ranks)));
  if (p.samples_read() < accelerators * p.batch)
    return fail(bad_plan(pointer + "/batch", "must leave a batch for each of " + std::to_string(accelerators) +
                                                 " accelerators: " + std::to_string(p.samples_read()) +
                                                 " samples are read"));
  const std::uint64_t threads = (accelerators + ranks - 1) / ranks * p.threads;
  const auto served = static_cast<std::uint64_t>(capabilities.file_threads);
  if (threads > served)
    return fail(bad_plan(pointer + "/threads", "must be less: a rank would read with " + std::to_string(threads) +
                                                   " threads, and this backend serves " + std::to_string(served)));
  return {};
}

/// Set apart from others of as many nodes by their names and their order. Collective.
std::uint64_t key_of_nodes(const mpi::World& world) {
  const mpi::Topology& place = world.topology();
  std::uint64_t key = static_cast<std::uint64_t>(place.node);
  for (const char letter : place.node_name) key = mix64(key ^ static_cast<unsigned char>(letter));
  constexpr std::uint64_t exact = std::uint64_t{1} << 32;  // sums of these fit
  return world.all().sum(place.leader() ? mix64(key) % exact : 0);
}

Json layout_of(const SampleSetSpec& set) {
  return {{"samples", set.samples},
          {"samples_per_file", set.samples_per_file},
          {"sample_bytes", set.sizes.mean_bytes},
          {"deviation_bytes", set.sizes.deviation_bytes},
          {"unit_bytes", set.sizes.unit_bytes},
          {"seed", set.sizes.seed}};
}

class Loader final : public Workload {
 public:
  Loader(const LoaderParameters& parameters, const StorageContext& context)
      : parameters_(parameters), context_(context) {
    state_.parameters = &parameters_;
    state_.context = &context_;
    state_.capabilities = context.backend->capabilities();
    state_.data_key = context.run_key;
    state_.files = SampleFiles(parameters_.set(nodes()));
    state_.dataset = dataset_of(context, state_.files.files());
    state_.readers = {.accelerators = state_.accelerators(),
                      .samples = parameters_.samples_read(),
                      .by_node = false,
                      .seed = parameters_.seed};
  }

  void find_peers() override { nodes_key_ = key_of_nodes(*context_.world); }

  [[nodiscard]] LocalSteps begin() override {
    LocalSteps steps{{"check alignment",
                      [this] { return check_direct_size("unit_bytes", parameters_.unit_bytes, state_.capabilities); }}};
    if (parameters_.data == LoaderData::use) {
      steps.push_back({"find dataset", [this] { return find_dataset(); }});
    } else {
      if (makes() && has_files()) append(steps, steps_to_make_tree(context_, state_.dataset));
      writers_are(nodes(), nodes_key_);
    }
    return steps;
  }

  [[nodiscard]] std::size_t phases() const override { return parameters_.epochs + (makes() ? 1 : 0); }

  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    if (makes() && index == 0) return std::make_unique<SampleWritePhase>(state_);
    return make_epoch_phase(state_, index - (makes() ? 1 : 0));
  }

  [[nodiscard]] LocalSteps end(bool whole) override {
    if (!makes()) return {};
    if (!has_files()) return {{"remove own names", [this] { return remove_names(); }}};
    LocalSteps steps;
    if (!context_.dataset.empty()) {
      if (whole) return {{"enter facts", [this] { return enter_dataset(); }}};
      steps.push_back(step_to_remove_facts(context_));
    } else if (context_.keep && whole) {
      return {};
    }
    append(steps, steps_to_remove_tree(context_, state_.dataset));
    return steps;
  }

 private:
  [[nodiscard]] bool makes() const { return parameters_.data == LoaderData::make; }
  /// Names in memory, on a target without a path, need neither directories nor a manifest.
  [[nodiscard]] bool has_files() const { return context_.folder != nullptr; }
  [[nodiscard]] std::uint64_t nodes() const { return static_cast<std::uint64_t>(context_.world->topology().nodes); }

  /// Every rank reads names of others, and removes those of its node that nobody else does.
  [[nodiscard]] Status remove_names() const {
    const mpi::Topology& place = context_.world->topology();
    const std::uint64_t files = state_.files.files();
    for (auto file = static_cast<std::uint64_t>(place.rank); file < files;
         file += static_cast<std::uint64_t>(place.ranks))
      if (auto status = context_.backend->remove_file(state_.dataset.file_name(file)); !status) return status;
    return {};
  }

  /// Each node reads what another one wrote where it can: the same nodes, with as many accelerators on each.
  void writers_are(std::uint64_t nodes_then, std::uint64_t key_then) {
    if (!state_.capabilities.data || nodes_then != nodes() || key_then != nodes_key_) return;
    const mpi::Topology& place = context_.world->topology();
    state_.own_group = static_cast<std::uint64_t>(place.node);
    const bool alike = place.most_ranks_on_a_node == place.fewest_ranks_on_a_node;
    state_.readers.by_node = nodes() > 1 && alike && state_.accelerators() % state_.ranks() == 0;
  }

  [[nodiscard]] Status find_dataset() {
    const auto facts = facts_of_dataset(context_, layout_of(parameters_.set(1)));
    if (!facts) return fail(facts.error());
    state_.data_key = (*facts)["key"].get<std::uint64_t>();
    const auto nodes_then = (*facts)["nodes"].get<std::uint64_t>();
    state_.files = SampleFiles(parameters_.set(nodes_then));
    writers_are(nodes_then, (*facts)["nodes_key"].get<std::uint64_t>());
    return {};
  }

  [[nodiscard]] Status enter_dataset() const {
    return context_.datasets->enter(context_.dataset, {{"layout", layout_of(parameters_.set(1))},
                                                       {"key", state_.data_key},
                                                       {"nodes", nodes()},
                                                       {"nodes_key", nodes_key_}});
  }

  LoaderParameters parameters_;
  StorageContext context_;
  LoaderState state_;
  std::uint64_t nodes_key_ = 0;
};

const Registered<WorkloadEntry> registered_loader{on_storage<LoaderParameters>({
    .name = "loader",
    .doc = "Reads training samples in shuffled order, ahead of accelerators that compute at a set "
           "pace, in several epochs.",
    .check = check_loader,
    .needs = [](const LoaderParameters& p, const PlannedLayout&) { return needs_of_loader(p); },
    .make = workload_of<Loader>,
    .uses_dataset = [](const LoaderParameters& p) { return p.data == LoaderData::use; },
    .needs_one_folder = always,
})};

}  // namespace

Table<LoaderParameters> LoaderParameters::table() { return joined<LoaderParameters>(sample_set(), training()); }

Status check_loader(const LoaderParameters& p, const Capabilities& capabilities, const PlannedLayout& layout,
                    const std::string& pointer) {
  if (auto status = check_data(p, capabilities, pointer); !status) return status;
  if (p.read_samples > p.samples)
    return fail(
        bad_plan(pointer + "/read_samples", "must be at most the number of samples, " + std::to_string(p.samples)));
  if (p.unit_bytes > p.sample_bytes)
    return fail(bad_plan(pointer + "/unit_bytes", "must be at most the size of a sample"));
  if (p.transfer_bytes % p.unit_bytes != 0)
    return fail(bad_plan(pointer + "/transfer_bytes", "must be a multiple of unit_bytes"));
  return check_readers(p, capabilities, static_cast<std::uint64_t>(layout.ranks), pointer);
}

Needs needs_of_loader(const LoaderParameters& p) {
  if (p.data != LoaderData::make) return {};
  const SampleFiles files(p.set(1));
  return file_needs(files.files(), 1) + Needs{files.sizes().most_bytes(p.samples), 0, 0};
}

}  // namespace ullage
