// SPDX-License-Identifier: Apache-2.0
// Workload `b-eff-io`: the effective I/O bandwidth of all ranks, over patterns of access and sizes of chunks.
#include "storage/workloads/b_eff_io/b_eff_io.hpp"

#include "storage/workloads/b_eff_io/run.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

constexpr std::array<std::string_view, 8> hint_chunks{"on_open", "Lmax",  "1024",    "1032",
                                                      "32768",   "32776", "1048576", "1048584"};

// Functions, since the tables are asked for while other files' statics are still being made.
Words<int> b_eff_io_numbers() {
  Words<int> words;
  for (const BEffIoPattern& pattern : b_eff_io_patterns())
    words.emplace_back(pattern.number, std::to_string(pattern.number));
  return words;
}

Table<BEffIoParameters> b_eff_io_schedule_fields() {
  using P = BEffIoParameters;
  return {
      choice("type", &P::type, "Choose how the chunks of the ranks lie in the file and which calls move them."),
      choice("access", &P::access,
             "Choose the access: write makes the dataset; rewrite and read repeat what write has done."),
      bytes("lmax_bytes", &P::lmax_bytes, {16384, 1073741824},
            "Set the bytes of the largest chunk, a multiple of 8. Use less than 2 MiB for trials only."),
      seconds("unit_s", &P::unit_s, {1e-6, 1e6}, "Schedule this many seconds for a pattern of one unit."),
      choice("rule", &P::rule, {{BEffIoRule::predicted, "predicted"}, {BEffIoRule::elapsed, "elapsed"}},
             "Begin another repetition when it is predicted to end in time, or when the time has not elapsed yet."),
      number("overtime", &P::overtime, {0, 1e6},
             "End a pattern of a given number of repetitions early when all patterns so far have taken this many times "
             "their scheduled time. 0 means never."),
      bytes("most_bytes", &P::most_bytes, {1, 1e15},
            "Limit the dataset to this many bytes. A pattern ends before it takes more than its part of them, which is "
            "proportional to its units."),
      text("counts_of", &P::counts_of,
           "For a first write of type segmented or seg_coll, take the repetitions from the datasets of this name with "
           "-scatter, -shared and -separated appended."),
      choices("skip", &P::skip, b_eff_io_numbers(), "Leave out the patterns of these numbers."),
  };
}

Table<BEffIoParameters> b_eff_io_condition_fields() {
  using P = BEffIoParameters;
  return {
      flag("shared_pointer", &P::shared_pointer,
           "Use the shared file pointer for type shared. If false, use the views of scatter."),
      flag("unique_open", &P::unique_open, "Tell the MPI library that no other program has the file open."),
      map("hints", &P::hints,
          "Pass these MPI_Info hints, named CHUNK/HINT, where CHUNK is on_open, Lmax, 1024, 1032, 32768, 32776, "
          "1048576 or 1048584."),
      choice("verify", &P::verify, {{Verify::full, "full"}, {Verify::none, "none"}},
             "Verify all data that is read, outside the timer."),
      choice("cache", &P::cache,
             "Before the first pattern of a reading case, sync the dataset and drop it from the page cache (advise), "
             "or do nothing (none)."),
  };
}

/// `~` and `/` of a key inside a JSON pointer.
std::string escaped_key(std::string_view key) {
  std::string text;
  for (const char c : key) text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return text;
}

Status check_hint_keys(const Map& hints, const std::string& pointer) {
  for (const auto& [key, value] : hints) {
    const std::size_t slash = key.find('/');
    const std::string_view chunk = std::string_view(key).substr(0, slash);
    if (slash == std::string::npos || slash + 1 == key.size() ||
        std::ranges::find(hint_chunks, chunk) == hint_chunks.end())
      return fail(bad_plan(pointer + "/hints/" + escaped_key(key),
                           "must be named CHUNK/HINT, with CHUNK on_open, Lmax, 1024, 1032, 32768, 32776, 1048576 or "
                           "1048584"));
  }
  return {};
}

Status check_counts_of(const BEffIoParameters& p, const std::string& pointer) {
  const bool wants = p.access == BEffIoAccess::write && is_segmented(p.type);
  if (wants && p.counts_of.empty())
    return fail(bad_plan(pointer + "/counts_of", "is missing: a first write of type " + word_of(p.type) +
                                                     " repeats what other types have done"));
  if (!wants && !p.counts_of.empty())
    return fail(bad_plan(pointer + "/counts_of", "is for a first write of type segmented or seg_coll"));
  return {};
}

class BEffIo final : public Workload {
 public:
  BEffIo(const BEffIoParameters& parameters, const StorageContext& context) : run_(parameters, context) {}

  [[nodiscard]] LocalSteps begin() override { return run_.begin(); }
  [[nodiscard]] std::size_t phases() const override { return run_.tasks().size(); }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    return make_b_eff_io_phase(run_, index);
  }
  [[nodiscard]] LocalSteps end(bool whole) override { return run_.end(whole); }

 private:
  BEffIoRun run_;
};

const Registered<WorkloadEntry> registered_b_eff_io{on_storage<BEffIoParameters>({
    .name = "b-eff-io",
    .doc = "Runs all patterns of one type of b_eff_io with one access. The first write lasts a "
           "scheduled time; later accesses repeat it as often.",
    .check = on_any_layout(check_b_eff_io),
    .needs = needs_of_b_eff_io,
    .make = workload_of<BEffIo>,
    .uses_dataset = [](const BEffIoParameters& p) { return p.access != BEffIoAccess::write; },
    .needs_one_folder = [](const BEffIoParameters& p) { return p.type != BEffIoType::separated; },
})};

}  // namespace

Table<BEffIoParameters> BEffIoParameters::table() {
  return joined<BEffIoParameters>(b_eff_io_schedule_fields(), b_eff_io_condition_fields());
}

bool BEffIoParameters::skips(int pattern) const { return std::ranges::find(skip, pattern) != skip.end(); }

Map BEffIoParameters::hints_of(const std::string& chunk) const {
  Map own;
  for (const auto& [key, value] : hints)
    if (key.starts_with(chunk + "/")) own[key.substr(chunk.size() + 1)] = value;
  return own;
}

Status check_b_eff_io(const BEffIoParameters& p, const Capabilities& capabilities, const std::string& pointer) {
  if (!capabilities.views)
    return fail(bad_plan(pointer, "b-eff-io needs a backend with views of files, such as mpiio"));
  if (p.lmax_bytes % 8 != 0) return fail(bad_plan(pointer + "/lmax_bytes", "must be a multiple of 8"));
  if (!capabilities.data && !p.writes() && p.verify != Verify::none)
    return fail(bad_plan(pointer + "/verify", "must be none: this backend holds no data"));
  if (p.access == BEffIoAccess::write &&
      std::ranges::all_of(b_eff_io_patterns(p.type), [&](const BEffIoPattern& one) { return p.skips(one.number); }))
    return fail(bad_plan(pointer + "/skip", "must leave a pattern of type " + word_of(p.type)));
  if (auto status = check_counts_of(p, pointer); !status) return status;
  return check_hint_keys(p.hints, pointer);
}

Needs needs_of_b_eff_io(const BEffIoParameters& p, const PlannedLayout& layout) {
  if (p.access != BEffIoAccess::write) return {};
  const auto ranks = static_cast<std::uint64_t>(layout.ranks);
  const std::uint64_t files = p.type == BEffIoType::separated ? ranks : 1;
  return {b_eff_io_needed_bytes(p.type, p.lmax_bytes, ranks, p.most_bytes), files, 1};
}

}  // namespace ullage
