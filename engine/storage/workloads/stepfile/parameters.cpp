// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/parameters.hpp"

#include <array>

#include "storage/workloads/stepfile/log_index.hpp"

namespace ullage {
namespace {

const Words<StepOrderKind>& step_order_words() {
  static const Words<StepOrderKind> words{{StepOrderKind::reverse, "reverse"},
                                          {StepOrderKind::forward, "forward"},
                                          {StepOrderKind::stride, "stride"},
                                          {StepOrderKind::revolve, "revolve"}};
  return words;
}
const Words<StepLayout>& step_layout_words() {
  static const Words<StepLayout> words = [] {
    Words<StepLayout> made;
    for (const StepLayout layout :
         {StepLayout::flat, StepLayout::dir_per_rank, StepLayout::dir_per_step, StepLayout::hashed, StepLayout::log})
      made.emplace_back(layout, word(layout));
    return made;
  }();
  return words;
}
const Words<StepSync>& step_sync_words() {
  static const Words<StepSync> words{
      {StepSync::none, "none"}, {StepSync::close, "close"}, {StepSync::fsync, "fsync"}, {StepSync::every, "every"}};
  return words;
}
const Words<StepCache>& step_cache_words() {
  static const Words<StepCache> words{{StepCache::none, "none"}, {StepCache::drop, "drop"}};
  return words;
}
const Words<StepVerify>& step_verify_words() {
  static const Words<StepVerify> words{{StepVerify::none, "none"}, {StepVerify::full, "full"}};
  return words;
}

Table<StepfileParameters> states() {
  using P = StepfileParameters;
  return {
      count("steps", &P::steps, {1, 1e9}, "Compute this many steps forward and as many in the adjoint."),
      bytes("state_bytes", &P::state_bytes, {8, 1e12}, "Let the state of a rank at a step take this many bytes."),
      choice("order", &P::order, step_order_words(),
             "Choose the order in which the adjoint needs the states. With revolve only some are kept, and the others "
             "are computed again from them."),
      count("stride", &P::stride, {1, 1e9}, "With order stride, read the states so many steps apart."),
      count("checkpoints", &P::checkpoints, {1, 1e9}, "With order revolve, keep so many states of a rank at once."),
      choice("layout", &P::layout, step_layout_words(),
             "Choose where the states lie: each in a file, in directories as the word says, or all of a rank in one "
             "log with an index."),
      count("hash_levels", &P::hash_levels, {1, StepShape::most_levels},
            "With layout hashed, make so many levels of directories, 16 in each."),
  };
}

Table<StepfileParameters> step_conditions() {
  using P = StepfileParameters;
  constexpr double most = StepfileParameters::most_depth;
  return {
      seconds("compute_s", &P::compute_s, {0, 3600}, "Compute for this long at each step; 0 means no computation."),
      number("jitter", &P::jitter, {0, 1}, "Vary the computation evenly by up to this share, up and down."),
      number("imbalance", &P::imbalance, {0, 100}, "Let the last rank compute longer than the first by this share."),
      count("write_behind", &P::write_behind, {0, most},
            "In the forward phase, let threads write up to this many states while the rank computes."),
      count("prefetch", &P::prefetch, {0, most},
            "In the adjoint phase, let threads read up to this many states ahead of the one in use."),
      choice("sync", &P::sync, step_sync_words(),
             "Choose what is synced: nothing, everything once at the end of the forward phase (close), each state "
             "(fsync), or one state in several (every)."),
      count("sync_every", &P::sync_every, {1, 1e9}, "With sync every, sync one state in this many."),
      flag("remove_read", &P::remove_read, "Remove the file of a state when the adjoint has read it."),
      choice("cache", &P::cache, step_cache_words(),
             "Choose what to do before the adjoint phase: nothing (none), or drop the states from the node's page "
             "cache (drop)."),
      choice("verify", &P::verify, step_verify_words(), "Choose what to verify of the states read: nothing, or all."),
  };
}

Status check_depths(const StepfileParameters& p, const Capabilities& capabilities, const std::string& pointer) {
  const std::array<std::pair<const char*, std::uint64_t>, 2> depths{
      {{"/write_behind", p.write_behind}, {"/prefetch", p.prefetch}}};
  for (const auto& [name, depth] : depths) {
    if (depth == 0) continue;
    if (p.revolves())
      return fail(bad_plan(pointer + name, "must be 0 with order revolve: what is read next has yet to be written"));
    if (capabilities.file_threads == 0)
      return fail(bad_plan(pointer + name, "must be 0: only the rank's own thread may use files of this backend"));
    if (p.in_log() && capabilities.thread_files)
      return fail(bad_plan(pointer + name, "must be 0: a log of this backend is used by the thread that opened it"));
  }
  return {};
}

}  // namespace

const Table<StepfileParameters>& StepfileParameters::table() {
  static const Table<StepfileParameters> fields = joined<StepfileParameters>(states(), step_conditions());
  return fields;
}

Status check_stepfile(const StepfileParameters& p, const Capabilities& capabilities, const std::string& pointer) {
  if (p.state_bytes % 8 != 0) return fail(bad_plan(pointer + "/state_bytes", "must be a multiple of 8"));
  if (auto status = check_depths(p, capabilities, pointer); !status) return status;
  if (p.revolves() && p.in_log())
    return fail(bad_plan(pointer + "/layout", "must not be log: order revolve overwrites states"));
  if (p.remove_read && (p.revolves() || p.in_log()))
    return fail(bad_plan(pointer + "/remove_read", "needs a file for each state, which this order or layout has not"));
  if (p.remove_read && !capabilities.path)
    return fail(bad_plan(pointer + "/remove_read", "needs a backend whose files have names"));
  if (p.verify == StepVerify::full && !capabilities.data)
    return fail(bad_plan(pointer + "/verify", "must be none: this backend holds no data"));
  if (p.sync == StepSync::close && !p.in_log() && !capabilities.metadata)
    return fail(bad_plan(pointer + "/sync", "close needs layout log, or a backend with metadata operations"));
  if (p.shape(1).directory_count() > StepShape::most_directories)
    return fail(bad_plan(pointer + "/steps", "with this layout make more than " +
                                                 std::to_string(StepShape::most_directories) + " directories"));
  return {};
}

Needs needs_of_stepfile(const StepfileParameters& p, const PlannedLayout& layout) {
  const StepShape shape = p.shape(static_cast<std::uint64_t>(layout.ranks));
  const Count states = Count(shape.steps) * in_blocks(p.state_bytes);
  const Count log = p.in_log() ? LogIndex::bytes(p.steps, 4096) : 0;
  return {(states + log) * shape.ranks, Count(shape.file_count()) + shape.directory_count(), 1};
}

}  // namespace ullage
