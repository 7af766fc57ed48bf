// SPDX-License-Identifier: Apache-2.0
// Workload `pio`: spatial patterns of parallel programs, and what they do with the bytes one after the other.
#include "storage/workloads/pio/pio.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "storage/workloads/pio/phase.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

// Functions, since the tables are asked for while other files' statics are still being made.
Words<PioKind> pio_kinds() {
  return {{PioKind::simple_strided, "simple-strided"},
          {PioKind::nested_strided, "nested-strided"},
          {PioKind::random_strided, "random-strided"},
          {PioKind::sequential_shared, "sequential-shared"},
          {PioKind::sequential_own, "sequential-own"},
          {PioKind::segmented, "segmented"},
          {PioKind::tiled, "tiled"},
          {PioKind::flash, "flash"},
          {PioKind::mesh, "mesh"},
          {PioKind::listed, "listed"},
          {PioKind::listed_own, "listed-own"}};
}
Words<PioOperation> pio_operations() {
  return {{PioOperation::write, "write"},
          {PioOperation::read, "read"},
          {PioOperation::reread, "reread"},
          {PioOperation::rewrite, "rewrite"},
          {PioOperation::read_modify_write, "read-modify-write"}};
}
Words<PioCache> pio_caches() { return {{PioCache::none, "none"}, {PioCache::advise, "advise"}}; }

using P = PioParameters;

/// A member of the shape as one of the parameters'.
template <class M>
M P::* of_shape(M PioShape::* member) {
  return member;
}

Table<P> pio_pattern_fields() {
  constexpr Bounds counts{1, 1e9};
  return {
      choice("pattern", of_shape(&PioShape::kind), pio_kinds(),
             "Choose which bytes of the file belong to which rank. Patterns are three kinds of strides, one sequence "
             "for all, a file or a segment for each rank, tiles, blocks of FLASH and a mesh."),
      bytes("request_bytes", of_shape(&PioShape::request_bytes), {8, 1073741824},
            "Let a request have this many bytes, a multiple of 8; with pattern random-strided on average."),
      count("requests", of_shape(&PioShape::requests), counts,
            "Let each rank make this many requests. With pattern flash some ranks make more."),
      bytes("base_bytes", of_shape(&PioShape::base_bytes), {0, 1e15},
            "Begin the pattern this many bytes behind the beginning of the file, a multiple of 8."),
      count("levels", of_shape(&PioShape::levels), {1, 8},
            "With pattern nested-strided, nest this many levels of strides."),
      count("inner_requests", of_shape(&PioShape::inner_requests), {1, 1e6},
            "With pattern nested-strided, make this many requests of a level before the next stride of the level "
            "around it."),
      count("gap_requests", of_shape(&PioShape::gap_requests), {0, 1e6},
            "With pattern nested-strided, leave room for this many requests behind the strides of each inner level."),
      count("tiles_x", of_shape(&PioShape::tiles_x), {0, 1e6},
            "With pattern tiled, put this many tiles into a row; 0 means as square as the number of ranks allows."),
      count("variables", of_shape(&PioShape::variables), {1, 1e6},
            "With pattern flash, write this many arrays, one behind the other."),
      bytes("record_bytes", of_shape(&PioShape::record_bytes), {8, 1048576},
            "With pattern mesh, let a vertex have this many bytes, a multiple of 8. Requests are multiples of it."),
      flag("sorted", of_shape(&PioShape::sorted),
           "With pattern mesh, visit the vertices in the order of the file. If false, visit them at random."),
      count("seed", of_shape(&PioShape::seed), {0, 9e15}, "Set the seed of the patterns random-strided and mesh."),
      text("list", of_shape(&PioShape::list),
           "With pattern listed (one file) or listed-own (one for each rank), move these transfers: "
           "RANK:OFFSET:LENGTH:COUNT:STRIDE, with spaces between. COUNT transfers of LENGTH bytes begin STRIDE bytes "
           "apart."),
  };
}

Table<P> pio_condition_fields() {
  return {
      choices("phases", &P::phases, pio_operations(),
              "Run these phases in each repetition, in this order; the first one is write, which makes the file."),
      choice("through", &P::through, {{PioThrough::offsets, "offsets"}, {PioThrough::view, "view"}},
             "Make each request by an explicit offset, or let each rank see its part of the file through a view."),
      flag("collective", &P::collective, "Make the calls through views together with all ranks."),
      count("requests_a_call", &P::requests_a_call, {1, 1e6}, "Through a view, move this many requests in one call."),
      flag("sync", &P::sync, "Sync a file once after a phase that writes, within the time."),
      choice("cache", &P::cache, pio_caches(),
             "Before the phases read and read-modify-write, sync the files and drop them from the page cache (advise), "
             "or do nothing (none)."),
      choice("verify", &P::verify, {{PioVerify::none, "none"}, {PioVerify::kept, "kept"}, {PioVerify::full, "full"}},
             "Choose what to verify after each phase, outside the timer: nothing, the last 16 MiB of a rank, or all "
             "data. It is read again by explicit offsets."),
  };
}

/// Parameters that mean something with one pattern alone are refused with the others.
Status check_owned(const P& p, const std::string& pointer) {
  const P initial;
  struct Owned {
    const char* name;
    bool is_given;
    bool is_used;
    const char* pattern;
  };
  const bool nests = p.kind == PioKind::nested_strided;
  const bool is_mesh = p.kind == PioKind::mesh;
  for (const Owned& one : {Owned{"levels", p.levels != initial.levels, nests, "nested-strided"},
                           Owned{"inner_requests", p.inner_requests != initial.inner_requests, nests, "nested-strided"},
                           Owned{"gap_requests", p.gap_requests != initial.gap_requests, nests, "nested-strided"},
                           Owned{"tiles_x", p.tiles_x != 0, p.kind == PioKind::tiled, "tiled"},
                           Owned{"variables", p.variables != initial.variables, p.kind == PioKind::flash, "flash"},
                           Owned{"record_bytes", p.record_bytes != initial.record_bytes, is_mesh, "mesh"},
                           Owned{"sorted", p.sorted != initial.sorted, is_mesh, "mesh"}})
    if (one.is_given && !one.is_used)
      return fail(bad_plan(pointer + "/" + one.name, std::string("is for pattern ") + one.pattern));
  return {};
}

Status check_list(const P& p, std::uint64_t ranks, const std::string& pointer) {
  const P initial;
  if (!p.is_listed()) {
    if (p.list.empty()) return {};
    return fail(bad_plan(pointer + "/list", "is for pattern listed or listed-own"));
  }
  if (p.request_bytes != initial.request_bytes || p.requests != initial.requests || p.base_bytes != 0)
    return fail(bad_plan(pointer, "request_bytes, requests and base_bytes are not for what is listed"));
  if (p.through == PioThrough::view) return fail(bad_plan(pointer + "/through", "must be offsets for what is listed"));
  const std::vector<PioRun> runs = pio_runs(p.list);
  Count bytes;
  for (const PioRun& run : runs) {
    bytes += Count(run.length_bytes) * run.count;
    if (run.rank >= ranks) return fail(bad_plan(pointer + "/list", "names rank " + std::to_string(run.rank)));
  }
  if (runs.empty() || bytes > most_file_bytes)
    return fail(bad_plan(pointer + "/list", "must be RANK:OFFSET:LENGTH:COUNT:STRIDE, with spaces between"));
  return {};
}

Status check_pio_sizes(const P& p, const std::string& pointer) {
  if (p.request_bytes % 8 != 0) return fail(bad_plan(pointer + "/request_bytes", "must be a multiple of 8"));
  if (p.base_bytes % 8 != 0) return fail(bad_plan(pointer + "/base_bytes", "must be a multiple of 8"));
  if (p.record_bytes % 8 != 0) return fail(bad_plan(pointer + "/record_bytes", "must be a multiple of 8"));
  if (p.kind == PioKind::mesh && p.request_bytes % p.record_bytes != 0)
    return fail(bad_plan(pointer + "/request_bytes", "must be a multiple of record_bytes"));
  if (p.kind == PioKind::flash && p.requests % p.variables != 0)
    return fail(bad_plan(pointer + "/requests", "must be a multiple of variables"));
  return {};
}

Status check_grid(const P& p, std::uint64_t ranks, const std::string& pointer) {
  if (p.kind == PioKind::tiled && p.tiles_x > 0 && ranks % p.tiles_x != 0)
    return fail(bad_plan(pointer + "/tiles_x", "must divide the number of ranks, " + std::to_string(ranks)));
  if (p.kind != PioKind::nested_strided) return {};
  std::uint64_t inner = 1;
  for (std::uint64_t k = 1; k < p.levels && inner <= p.requests; ++k) inner *= p.inner_requests;
  if (p.requests % inner != 0)
    return fail(bad_plan(pointer + "/requests", "must be a multiple of inner_requests to the power of (levels - 1), " +
                                                    std::to_string(inner)));
  return {};
}

/// Looks at an upper bound of where the pattern ends.
Status check_end(const P& p, std::uint64_t ranks, const std::string& pointer) {
  Count stride = ranks;
  Count inner = 1;
  if (p.kind == PioKind::nested_strided)
    for (std::uint64_t k = 1; k < p.levels; ++k) {
      stride = stride * p.inner_requests + p.gap_requests;
      inner = inner * p.inner_requests;
    }
  const Count strides = Count(p.requests / inner.value()) + (p.kind == PioKind::flash ? 3'000'000 : 1);
  if (strides * stride * p.request_bytes + p.base_bytes <= most_file_bytes) return {};
  return fail(bad_plan(pointer + "/requests", "makes a file of more than 4e18 bytes"));
}

Status check_calls(const P& p, const Capabilities& capabilities, const std::string& pointer) {
  const bool sees = p.through == PioThrough::view;
  if (sees && !capabilities.views)
    return fail(bad_plan(pointer + "/through", "view needs a backend with views of files, such as mpiio"));
  if (!sees && p.collective)
    return fail(bad_plan(pointer + "/collective", "needs through view; with offsets the backend decides"));
  if (!sees && p.requests_a_call != 1) return fail(bad_plan(pointer + "/requests_a_call", "needs through view"));
  if (p.collective && p.per_rank())
    return fail(bad_plan(pointer + "/collective", "must be false: each rank has a file of its own"));
  if (sees && p.kind == PioKind::mesh && !p.sorted)
    return fail(bad_plan(pointer + "/sorted", "must be true with a view, which shows bytes in the order of the file"));
  const std::uint64_t longest = PioPattern(p.shape(1), 0).unit_bytes();
  if (sees && longest > std::numeric_limits<int>::max() / p.pieces_a_call())
    return fail(bad_plan(pointer + "/requests_a_call", "makes calls of more than 2147483647 bytes"));
  return {};
}

Status check_phases(const P& p, const Capabilities& capabilities, const std::string& pointer) {
  if (p.phases.empty() || p.phases.front() != PioOperation::write)
    return fail(bad_plan(pointer + "/phases/0", "must be write, which makes the file"));
  for (std::size_t i = 1; i < p.phases.size(); ++i) {
    const std::string where = pointer + "/phases/" + std::to_string(i);
    if (p.phases[i] == PioOperation::write) return fail(bad_plan(where, "must be rewrite: the file is there already"));
    const bool writes = p.phases[i] == PioOperation::rewrite || p.phases[i] == PioOperation::read_modify_write;
    if (writes && (p.kind == PioKind::sequential_shared || p.is_listed()))
      return fail(bad_plan(where, "must be read or reread: with this pattern ranks may own the same bytes"));
  }
  if (!capabilities.data && p.verify != PioVerify::none)
    return fail(bad_plan(pointer + "/verify", "must be none: this backend holds no data"));
  return {};
}

}  // namespace

Table<PioParameters> PioParameters::table() {
  return joined<PioParameters>(pio_pattern_fields(), pio_condition_fields());
}

PioShape PioParameters::shape(std::uint64_t of_ranks) const {
  PioShape shape = static_cast<const PioShape&>(*this);
  shape.ranks = of_ranks;
  return shape;
}

std::string word_of(PioKind kind) { return detail::word_of(pio_kinds(), kind); }
std::string word_of(PioOperation operation) { return detail::word_of(pio_operations(), operation); }
std::string word_of(PioCache cache) { return detail::word_of(pio_caches(), cache); }

namespace {

/// Libraries may fill the gaps between the pieces of a view; what is before the base stays a hole.
Needs needs_of_pio(const PioParameters& p, const PlannedLayout& layout) {
  const auto ranks = static_cast<std::uint64_t>(layout.ranks);
  const PioPattern pattern(p.shape(ranks), 0);
  const bool fills = p.through == PioThrough::view && !p.per_rank();
  const std::uint64_t written =
      p.kind == PioKind::listed ? std::min(pattern.data_bytes(), pattern.file_bytes()) : pattern.data_bytes();
  return {fills ? pattern.file_bytes() - p.base_bytes : written, p.per_rank() ? ranks : 1, 1};
}

/// Rules that span parameters, the backend and the layout; the pointer is that of the parameters object.
Status check_pio(const PioParameters& p, const Capabilities& capabilities, const PlannedLayout& layout,
                 const std::string& pointer) {
  const auto ranks = static_cast<std::uint64_t>(layout.ranks);
  if (auto status = check_owned(p, pointer); !status) return status;
  if (auto status = check_list(p, ranks, pointer); !status) return status;
  if (auto status = check_pio_sizes(p, pointer); !status) return status;
  if (auto status = check_grid(p, ranks, pointer); !status) return status;
  if (auto status = check_end(p, ranks, pointer); !status) return status;
  if (auto status = check_calls(p, capabilities, pointer); !status) return status;
  return check_phases(p, capabilities, pointer);
}

class Pio final : public Workload {
 public:
  Pio(PioParameters parameters, const StorageContext& context) {
    state_.parameters = std::move(parameters);
    state_.context = context;
    state_.capabilities = context.backend->capabilities();
    state_.entry = state_.parameters.per_rank() ? dataset_of(context, state_.ranks()) : shared_file_of(context);
    state_.entry.side_files = state_.parameters.through == PioThrough::view;
  }

  [[nodiscard]] LocalSteps begin() override {
    LocalSteps steps{{"check alignment", [this] { return check_alignment(); }}};
    if (!state_.capabilities.data) return steps;
    if (makes_files())
      append(steps, steps_to_make_tree(state_.context, state_.entry));
    else
      steps.push_back(step_to_make_directory(state_.context, state_.entry));
    return steps;
  }

  [[nodiscard]] std::size_t phases() const override { return state_.parameters.phases.size(); }

  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    const PioOperation operation = state_.parameters.phases[index];
    if (operation == PioOperation::write || operation == PioOperation::rewrite) {
      ++state_.generation;
      state_.changes = 0;
    }
    return std::make_unique<PioPhase>(state_, operation);
  }

  [[nodiscard]] LocalSteps end(bool) override {
    if (!state_.capabilities.data || state_.context.keep) return {};
    if (makes_files()) return steps_to_remove_tree(state_.context, state_.entry);
    return {{"remove own files", [this] { return remove_files(); }},
            step_to_remove_directory(state_.context, state_.entry)};
  }

 private:
  /// Else a backend holds the data where no manifest can list it.
  [[nodiscard]] bool makes_files() const { return state_.capabilities.path && state_.context.folder != nullptr; }

  [[nodiscard]] Status remove_files() const {
    if (!state_.entry.per_process && !state_.context.writes_manifest) return {};
    return state_.context.backend->remove_file(state_.file_name());
  }

  /// O_DIRECT's alignment is known only now that the target is: a wrong size is refused, not rounded.
  [[nodiscard]] Status check_alignment() const {
    const std::uint64_t alignment = state_.capabilities.alignment_bytes;
    const PioParameters& p = state_.parameters;
    // Libraries that put collective calls together may end the process where such overlap.
    if (p.kind == PioKind::listed && state_.capabilities.collective)
      return fail(environment_error("list", "needs calls that each rank makes alone: collective must be false"));
    for (const PioRun& run : pio_runs(p.list))
      for (const std::uint64_t bytes : {run.offset_bytes, run.length_bytes, run.offset(1)})
        if (auto status = check_direct_size("a listed transfer", bytes, state_.capabilities); !status) return status;
    const bool varies = p.kind == PioKind::random_strided && alignment > 8;
    const std::uint64_t piece = p.kind == PioKind::mesh ? p.record_bytes : p.request_bytes;
    if (!varies && piece % alignment == 0 && p.base_bytes % alignment == 0) return {};
    return fail(environment_error(
        varies || piece % alignment != 0 ? "request_bytes" : "base_bytes",
        "direct I/O here needs offsets and lengths that are multiples of " + std::to_string(alignment)));
  }

  PioState state_;
};

const Registered<WorkloadEntry> registered_pio{on_storage<PioParameters>({
    .name = "pio",
    .doc = "Writes and reads the spatial patterns of parallel programs: strides, segments, tiles, "
           "blocks and meshes.",
    .check = check_pio,
    .needs = needs_of_pio,
    .make = workload_of<Pio>,
    .needs_one_folder = [](const PioParameters& p) { return !p.per_rank(); },
})};

}  // namespace
}  // namespace ullage
