// SPDX-License-Identifier: Apache-2.0
// What workloads on storage have in common: the contracts, which they include by this file; what the user chooses in
// the same words; datasets that cases share, and data that another rank has made.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cmath>

#include "base/json.hpp"
#include "base/parameters.hpp"
#include "base/payload.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "storage/backend.hpp"
#include "storage/manifest.hpp"
#include "storage/storage_context.hpp"
#include "work/phase_work.hpp"
#include "work/workload.hpp"

namespace ullage {

// What workloads let the user choose in the same words.

enum class Verify { none, kept, full };  // of data that was read: nothing, what lies in memory still, or all
[[nodiscard]] inline Words<Verify> words_of(Verify) {
  return {{Verify::none, "none"}, {Verify::kept, "kept"}, {Verify::full, "full"}};
}
[[nodiscard]] inline Words<Verify> nothing_or_all() { return {{Verify::none, "none"}, {Verify::full, "full"}}; }

enum class DropCache { none, drop };
[[nodiscard]] inline Words<DropCache> words_of(DropCache) {
  return {{DropCache::none, "none"}, {DropCache::drop, "drop"}};
}

enum class AdviseCache { none, advise };
[[nodiscard]] inline Words<AdviseCache> words_of(AdviseCache) {
  return {{AdviseCache::none, "none"}, {AdviseCache::advise, "advise"}};
}

enum class FileFormat { raw, arrays };
[[nodiscard]] inline Words<FileFormat> words_of(FileFormat) {
  return {{FileFormat::raw, "raw"}, {FileFormat::arrays, "arrays"}};
}

/// Whether phases are those of writing or, after it, of reading too.
[[nodiscard]] inline bool begin_with_write(const std::vector<Direction>& phases) {
  return phases == std::vector{Direction::write} || phases == std::vector{Direction::write, Direction::read};
}

// Durability of many files at once.

/// Makes everything durable that this node has written to the file system of `directory`, a name in the run folder. The
/// backend works on names.
[[nodiscard]] inline Status sync_file_system_of(Backend& backend, const std::string& directory) {
  const auto api = backend.make_metadata();
  if (!api) return fail(api.error());
  const auto entered = (*api)->enter(directory);
  return entered ? (*api)->sync_file_system(*entered) : fail(entered.error());
}

inline constexpr int first_version = 1;  // of contents: facts did not tell it yet

/// Facts of the dataset the case names; an error when it is not there, or holds what an earlier version wrote, whose
/// data would not be recognised.
[[nodiscard]] inline Result<nlohmann::json> facts_of_dataset(const StorageContext& context) {
  const Json* facts = context.datasets->find(context.dataset);
  if (facts == nullptr) return fail(no_dataset(context.dataset));
  const int version = facts->value("contents", first_version);
  if (version != Payload::version)
    return fail(environment_error("dataset '" + context.dataset + "'",
                                  "holds data of version " + std::to_string(version) +
                                      ", but this engine supports version " + std::to_string(Payload::version) +
                                      "; make the dataset again"));
  return *facts;
}

/// Returns the same; an error also when it was not made with this layout.
[[nodiscard]] inline Result<nlohmann::json> facts_of_dataset(const StorageContext& context, const Json& layout) {
  auto facts = facts_of_dataset(context);
  if (!facts) return facts;
  const Json made = facts->value("layout", Json());
  if (made != layout)
    return fail(environment_error("dataset '" + context.dataset + "'",
                                  "was made as " + json_text(made) + ", but this case needs " + json_text(layout)));
  return facts;
}

/// Returns a file of the case as people know it: with its path where the target has one.
[[nodiscard]] inline std::string path_of(const StorageContext& context, const std::string& name) {
  return context.folder == nullptr ? name : context.folder->path() + "/" + name;
}

/// Returns the size of file `name` below the run's folder, which the case has.
[[nodiscard]] inline Result<std::uint64_t> size_of_file(const StorageContext& context, const std::string& name) {
  const auto file = context.folder->open_file(name, O_RDONLY);
  if (!file) return fail(file.error());
  struct stat status{};
  if (fstat(file->get(), &status) != 0) return fail(errno_error(errno, "inspect", name));
  return static_cast<std::uint64_t>(status.st_size);
}

/// An error where a file whose size a formula gives has another.
[[nodiscard]] inline Status check_size_of_file(const StorageContext& context, const std::string& name,
                                               std::uint64_t wanted_bytes, std::uint64_t found_bytes) {
  if (found_bytes == wanted_bytes) return {};
  return fail(verification_error("verify", path_of(context, name), "the file has another size than the formula",
                                 std::to_string(wanted_bytes), std::to_string(found_bytes)));
}

/// Data of file `name` that is not what was written there.
[[nodiscard]] inline Error wrong_data(const StorageContext& context, const std::string& name,
                                      const Mismatch& mismatch) {
  Error error = verification_error("verify", path_of(context, name), "data differs from what was written",
                                   mismatch.expected, mismatch.found);
  error.offset_bytes = mismatch.offset_bytes;
  return error;
}

/// Adds what was found in `bytes` of data. The error of the first wrong data is kept.
template <class ErrorOf>
void add_check(Verification& verification, std::size_t bytes, const Payload::Check& found, const ErrorOf& error_of) {
  verification.verified_bytes += bytes;
  verification.bad_blocks += found.bad_blocks;
  if (found.first && !verification.first) verification.first = error_of(*found.first);
}

/// O_DIRECT's alignment is known only once the target is: a size that is no multiple of it is refused, not rounded.
[[nodiscard]] inline Status check_direct_size(const std::string& parameter, std::uint64_t bytes,
                                              const Capabilities& capabilities) {
  if (bytes % capabilities.alignment_bytes == 0) return {};
  return fail(environment_error(parameter, "is " + std::to_string(bytes) +
                                               ", but direct I/O here needs a multiple of " +
                                               std::to_string(capabilities.alignment_bytes)));
}

inline constexpr std::uint64_t never = ~std::uint64_t{0};

/// Reading what was never written measures nothing (a file system invents zeros at memory speed). An error where file
/// `name` is shorter than `least_bytes`, or where it has holes and is shorter than `holes_from_bytes`.
[[nodiscard]] inline Status check_written(Backend& backend, const std::string& name, std::uint64_t least_bytes,
                                          std::uint64_t holes_from_bytes = never) {
  const auto extents = backend.inspect(name);
  if (!extents) return fail(extents.error());
  if (extents->size_bytes < least_bytes)
    return fail(environment_error(
        name, "is " + std::to_string(extents->size_bytes) + " bytes long, must be " + std::to_string(least_bytes)));
  if (!extents->fully_written && extents->size_bytes < holes_from_bytes)
    return fail(environment_error(name, "has holes or unwritten extents, which would make the measurement void"));
  return {};
}

/// Every rank removes its part of the items, then one rank of each file system the rest.
[[nodiscard]] inline LocalSteps steps_to_remove_tree(const StorageContext& context, const DatasetEntry& entry) {
  const auto remove_items = [&context, &entry] -> Status {
    Leftovers unsaid;  // what is left is found, and said, by the whole removal below
    if (context.parts > 1) context.folder->remove_dataset(entry, {context.part, context.parts, true}, unsaid);
    return {};
  };
  const auto remove_rest = [&context, &entry] -> Status {
    Leftovers leftovers;
    if (context.writes_manifest) context.folder->remove_dataset(entry, {}, leftovers);
    if (leftovers.left.empty()) return {};
    return fail(environment_error("", "could not be removed: " + leftovers.left.front()));
  };
  return {{"remove items", remove_items}, {"remove directories", remove_rest}};
}

/// The steps that lead to a tree's directory, listed: what an earlier repetition left in it is removed first. What is
/// given outlives the steps, as with the others.
[[nodiscard]] inline LocalSteps steps_to_make_tree(const StorageContext& context, const DatasetEntry& entry) {
  LocalSteps steps;
  if (context.stays()) steps = steps_to_remove_tree(context, entry);
  steps.push_back({"make directory", [&context, &entry] -> Status {
                     if (!context.writes_manifest) return {};
                     if (auto status = context.folder->list_dataset(entry); !status) return status;
                     return context.backend->make_directory(entry.directory);
                   }});
  return steps;
}

/// The case's dataset. It has a file of each of `files` owners, or none that is numbered: then its workload adds what
/// it has (`steps`, `grid`).
[[nodiscard]] inline DatasetEntry dataset_of(const StorageContext& context, std::uint64_t files = 0) {
  DatasetEntry entry;
  entry.dataset = context.dataset_name();
  entry.directory = directory_of_dataset(entry.dataset);
  entry.files = files;
  entry.per_process = files > 0;
  return entry;
}

/// One file of all ranks, beside which a library may keep files of its own.
[[nodiscard]] inline DatasetEntry shared_file_of(const StorageContext& context) {
  DatasetEntry entry = dataset_of(context, 1);
  entry.per_process = false;
  entry.side_files = true;
  return entry;
}

/// Names in memory, on a target without a path, need neither directories nor a manifest.
[[nodiscard]] inline bool makes_tree(const StorageContext& context) {
  return context.folder != nullptr && context.backend->capabilities().data;
}

/// What a workload does with its tree at its end. A whole one stays if the plan keeps data.
[[nodiscard]] inline LocalSteps steps_to_end_tree(const StorageContext& context, const DatasetEntry& entry,
                                                  bool whole) {
  if (!makes_tree(context) || (context.keep && whole)) return {};
  return steps_to_remove_tree(context, entry);
}

/// For a dataset that no manifest lists: one rank of each file system makes its directory, or removes it.
[[nodiscard]] inline LocalStep step_to_make_directory(const StorageContext& context, const DatasetEntry& entry) {
  return {"make directory", [&context, &entry] {
            return context.writes_manifest ? context.backend->make_directory(entry.directory) : Status{};
          }};
}
[[nodiscard]] inline LocalStep step_to_remove_directory(const StorageContext& context, const DatasetEntry& entry) {
  return {"remove directory", [&context, &entry] {
            return context.writes_manifest ? context.backend->remove_directory(entry.directory) : Status{};
          }};
}

/// An error where the backend's files hold arrays and the case's do not, or the other way round. That is known of the
/// backend itself, also of one that is wrapped.
[[nodiscard]] inline Status check_format(const StorageContext& context, bool wants_arrays) {
  const bool has_arrays = context.backend->capabilities().arrays;
  if (has_arrays == wants_arrays) return {};
  return fail(environment_error(
      "format", has_arrays ? "must be arrays: this backend's files hold arrays" : "must be raw: it has no arrays"));
}

/// What a phase's files have said of their hints, and what the backend knows.
[[nodiscard]] inline Map with_hints_of(const Backend& backend, Map of_files) {
  of_files.merge(backend.hints_granted());
  return of_files;
}

/// Checks when a P, which has a stonewall, goes on behind it.
template <class P>
[[nodiscard]] Status check_wall(const P& p, const std::string& pointer) {
  if (p.wear_out && p.stonewall_s == 0) return fail(bad_plan(pointer + "/wear_out", "needs stonewall_s"));
  if (p.wear_out_limit_s > 0 && !p.wear_out) return fail(bad_plan(pointer + "/wear_out_limit_s", "needs wear_out"));
  return {};
}

template <class P>
void tell_wall(const P& p, PhaseInfo& info) {
  info.stonewall_ns = std::llround(p.stonewall_s * 1e9);
  info.wear_out = p.wear_out;
  info.wear_out_limit_ns = std::llround(p.wear_out_limit_s * 1e9);
}

/// The facts of the case's named dataset are struck out of the book: it is gone, or no longer whole.
[[nodiscard]] inline LocalStep step_to_remove_facts(const StorageContext& context) {
  return {"strike facts", [&context] { return context.datasets->remove(context.dataset); }};
}

/// Adds what a new file costs in the dataset's directory, and at least anywhere in the run folder, after a phase that
/// made names; nothing where the file system forgets what was removed.
inline void add_new_file_cost(const StorageContext& context, const DatasetEntry& entry, Json& facts) {
  const auto cost = context.folder != nullptr ? context.folder->new_file_cost(entry.directory) : std::nullopt;
  if (cost) facts.update({{"new_file_ns", cost->here_ns}, {"least_new_file_ns", cost->least_ns}});
}

/// Makes everything durable that this node's ranks have written to the file system of a dataset, once all of them have
/// come here: they are in it together, also one whose work has failed.
[[nodiscard]] inline Status sync_dataset(const StorageContext& context, const DatasetEntry& entry) {
  const mpi::World& world = *context.world;
  world.node().barrier();
  return world.topology().leader() ? sync_file_system_of(*context.backend, entry.directory) : Status{};
}

/// Adds steps behind others.
inline void append(LocalSteps& steps, LocalSteps more) {
  for (LocalStep& step : more) steps.push_back(std::move(step));
}

enum class ReadBack { own, other_rank, other_node };

[[nodiscard]] inline Words<ReadBack> words_of(ReadBack) {
  return {{ReadBack::own, "own"}, {ReadBack::other_rank, "other-rank"}, {ReadBack::other_node, "other-node"}};
}

/// Says whose data a rank reads, and the word for it in records.
struct DataSource {
  int rank = 0;
  std::string data_of = "own";
};

/// Collective, by true topology; where there is no other node, the next rank stands for it.
[[nodiscard]] inline DataSource find_data_source(const mpi::World& world, ReadBack read_back, int shift) {
  DataSource source{world.rank(), "own"};
  if (read_back == ReadBack::own) return source;
  if (read_back == ReadBack::other_node) {
    const int other = world.rank_on_other_node(shift);
    if (other >= 0) return {other, "other-node"};
  }
  source.rank = (world.rank() + shift) % world.size();
  if (world.all().all(source.rank != world.rank())) source.data_of = "other-rank";
  return source;
}

/// Notices for the case that the data is not as far away as was asked for: of the rank itself, or of its node.
struct WhoseTexts {
  std::string own = "every rank reads its own data, since there is no other to read from";
  std::string same_node = "there is one node: ranks read what another rank of the same node wrote";
};

inline void tell_whose(ReadBack read_back, const std::string& data_of, PhaseInfo& info, const WhoseTexts& texts = {}) {
  if (read_back != ReadBack::own && data_of == "own")
    info.notices.push_back(
        {"read-back-own", texts.own, "use more ranks or nodes, or a cache control that drops the data first"});
  else if (read_back == ReadBack::other_node && data_of != "other-node")
    info.notices.push_back(
        {"read-back-same-node", texts.same_node, "the page cache of this node holds it unless it is dropped"});
}

}  // namespace ullage
