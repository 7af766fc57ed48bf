// SPDX-License-Identifier: Apache-2.0
// What workloads have in common around datasets that cases share, and around data that another rank has made.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/parameters.hpp"
#include "base/payload.hpp"
#include "base/result.hpp"
#include "storage/backend.hpp"
#include "storage/manifest.hpp"
#include "storage/storage_context.hpp"
#include "work/phase_work.hpp"
#include "work/workload.hpp"

namespace ullage {

// Durability of many files at once.

/// Makes everything durable that this node has written to the file system of `directory`, a name in the run folder. The
/// backend works on names.
[[nodiscard]] inline Status sync_file_system_of(Backend& backend, const std::string& directory) {
  const auto api = backend.make_metadata();
  if (!api) return fail(api.error());
  const auto entered = (*api)->enter(directory);
  return entered ? (*api)->sync_file_system(*entered) : fail(entered.error());
}

/// Facts of the dataset the case names; an error when it is not there, or holds what an earlier version wrote, whose
/// data would not be recognised.
[[nodiscard]] Result<nlohmann::json> facts_of_dataset(const StorageContext& context);
/// Returns the same; an error also when it was not made with this layout.
[[nodiscard]] Result<nlohmann::json> facts_of_dataset(const StorageContext& context, const nlohmann::json& layout);

/// Returns a file of the case as people know it: with its path where the target has one.
[[nodiscard]] std::string path_of(const StorageContext& context, const std::string& name);
/// Returns the size of file `name` below the run's folder, which the case has.
[[nodiscard]] Result<std::uint64_t> size_of_file(const StorageContext& context, const std::string& name);
/// An error where a file whose size a formula gives has another.
[[nodiscard]] Status check_size_of_file(const StorageContext& context, const std::string& name,
                                        std::uint64_t wanted_bytes, std::uint64_t found_bytes);
/// Data of file `name` that is not what was written there.
[[nodiscard]] Error wrong_data(const StorageContext& context, const std::string& name, const Mismatch& mismatch);
/// Adds what was found in `bytes` of data. The error of the first wrong data is kept.
template <class ErrorOf>
void add_check(Verification& verification, std::size_t bytes, const Payload::Check& found, const ErrorOf& error_of) {
  verification.verified_bytes += bytes;
  verification.bad_blocks += found.bad_blocks;
  if (found.first && !verification.first) verification.first = error_of(*found.first);
}

/// O_DIRECT's alignment is known only once the target is: a size that is no multiple of it is refused, not rounded.
[[nodiscard]] Status check_direct_size(const std::string& parameter, std::uint64_t bytes,
                                       const Capabilities& capabilities);

inline constexpr std::uint64_t never = ~std::uint64_t{0};
/// Reading what was never written measures nothing (a file system invents zeros at memory speed). An error where file
/// `name` is shorter than `least_bytes`, or where it has holes and is shorter than `holes_from_bytes`.
[[nodiscard]] Status check_written(Backend& backend, const std::string& name, std::uint64_t least_bytes,
                                   std::uint64_t holes_from_bytes = never);

/// The steps that lead to a tree's directory, listed: what an earlier repetition left in it is removed first. What is
/// given outlives the steps, as with the others.
[[nodiscard]] LocalSteps steps_to_make_tree(const StorageContext& context, const DatasetEntry& entry);
/// Every rank removes its part of the items, then one rank of each file system the rest.
[[nodiscard]] LocalSteps steps_to_remove_tree(const StorageContext& context, const DatasetEntry& entry);
/// The facts of the case's named dataset are struck out of the book: it is gone, or no longer whole.
[[nodiscard]] LocalStep step_to_remove_facts(const StorageContext& context);

/// Adds what a new file costs in the dataset's directory, and at least anywhere in the run folder, after a phase that
/// made names; nothing where the file system forgets what was removed.
void add_new_file_cost(const StorageContext& context, const DatasetEntry& entry, nlohmann::json& facts);

/// Makes everything durable that this node's ranks have written to the file system of a dataset, once all of them have
/// come here: they are in it together, also one whose work has failed.
[[nodiscard]] Status sync_dataset(const StorageContext& context, const DatasetEntry& entry);

/// Adds steps behind others.
void append(LocalSteps& steps, LocalSteps more);

enum class ReadBack { own, other_rank, other_node };
[[nodiscard]] Words<ReadBack> read_back_words();

/// Says whose data a rank reads, and the word for it in records.
struct DataSource {
  int rank = 0;
  std::string data_of = "own";
};
/// Collective, by true topology; where there is no other node, the next rank stands for it.
[[nodiscard]] DataSource find_data_source(const mpi::World& world, ReadBack read_back, int shift);
/// Notices for the case that the data is not as far away as was asked for: of the rank itself, or of its node.
struct WhoseTexts {
  std::string own = "every rank reads its own data, since there is no other to read from";
  std::string same_node = "there is one node: ranks read what another rank of the same node wrote";
};
void tell_whose(ReadBack read_back, const std::string& data_of, PhaseInfo& info, const WhoseTexts& texts = {});

}  // namespace ullage
