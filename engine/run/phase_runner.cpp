// SPDX-License-Identifier: Apache-2.0
#include "run/phase_runner.hpp"

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/resources.hpp"
#include "base/signals.hpp"
#include "mpi/agreement.hpp"
#include "run/phase_result.hpp"

namespace ullage {
namespace {

std::uint64_t process_cpu_ns() { return static_cast<std::uint64_t>(cpu_time_ns(CLOCK_PROCESS_CPUTIME_ID)); }

/// One rank's execution through one phase. Inside the timer it reads the clock and says with single stores what this
/// rank works on: a short operation would otherwise be mostly our own book-keeping.
class PhaseExecution final {
 public:
  PhaseExecution(const RunContext& context, PhaseWork& work, const PhaseInfo& info)
      : context_(context),
        work_(work),
        info_(info),
        opening_{.what = info.name + ": open"},
        transferring_{.what = info.name + ": transfer",
                      .meter = context.meter,
                      .limit_ns = stage_limit_ns(context.watchdog->limit_ns(), bytes_at_once(info, context))},
        syncing_{.what = info.name + ": sync"},
        closing_{.what = info.name + ": close"},
        memory_bytes_(physical_memory_bytes() * static_cast<std::uint64_t>(context.world->topology().nodes)) {
    result_.origin_ns = context.origin_ns;
    if (info.collective && info.stonewall_ns > 0) most_a_batch_ = 1;
  }

  /// Gets what the runner itself needs in the phase and after it, the record's memory included: none is looked for
  /// while the ranks add up.
  [[nodiscard]] Status allocate() {
    context_.meter->renew(!info_.collective, info_.parts.size());
    progress_ = std::make_unique<Meter>();
    record_room_ = std::make_unique_for_overwrite<RecordRoom>();
    return work_.allocate();
  }

  /// Readies the first batch and the account, so that nothing is generated or cleared inside the timer when a phase
  /// fits into a batch.
  void prepare_first() {
    context_.meter->forget();
    total_ = work_.operations();
    if (total_ > 0) prepared_ = work_.prepare(0, std::min(total_, most_a_batch_));
  }

  void run() {
    Meter& meter = *context_.meter;
    const PageFaults faults_before = process_faults();
    const std::uint64_t cpu_before_ns = process_cpu_ns();
    paused_cpu_ns_ = 0;
    context_.watchdog->watch(opening_);
    const std::int64_t start = now_ns();
    note(catch_resource_errors([this] { return work_.open(); }));
    (void)meter.clock_ns();  // sets it by the kernel's where that is due, which is no operation's work
    const std::int64_t opened = now_ns();
    meter.begin(opened, info_.stonewall_ns > 0 ? start + info_.stonewall_ns : Meter::no_deadline);
    context_.watchdog->watch(transferring_);
    transfer();
    const std::int64_t transferred = running_ns();
    const std::int64_t synced = sync(transferred);
    watch_flush(closing_);
    note(catch_resource_errors([this] { return work_.close(); }));
    const std::int64_t closed = running_ns();
    result_.cpu_ns = process_cpu_ns() - cpu_before_ns - paused_cpu_ns_;
    const PageFaults faults = process_faults();
    result_.faults = {faults.minor - faults_before.minor, faults.major - faults_before.major};
    set(stage_open, start, opened);
    set(stage_transfer, opened, transferred);
    set(stage_sync, transferred, synced);
    set(stage_close, synced, closed);
  }

  /// Stamps of this rank's clock become those of the launch.
  void place(const mpi::CommonClock::Around& measured) {
    const mpi::ClockLine& clock = measured.line;
    result_.clock = clock;
    if (context_.clock->several_clocks()) result_.clock_measured = measured.both_sides ? "around" : "before";
    for (StageTime& stage : result_.stages) {
      result_.residual_ns =
          std::max({result_.residual_ns, clock.residual_ns(stage.start_ns), clock.residual_ns(stage.stop_ns)});
      stage = {result_.to_common(stage.start_ns), result_.to_common(stage.stop_ns)};
    }
    if (!result_.at_wall) return;
    result_.residual_ns = std::max(result_.residual_ns, clock.residual_ns(result_.at_wall->stop_ns));
    result_.at_wall->stop_ns = result_.to_common(result_.at_wall->stop_ns);
  }

  RankResult& result() { return result_; }
  void note(const Status& status) {
    if (!status && !result_.error) result_.error = status.error();
  }
  /// Of what is done after the phase.
  Meter& progress() { return *progress_; }
  /// Gives back what was kept for the record.
  void make_room_for_record() { record_room_.reset(); }

 private:
  using RecordRoom = std::array<std::byte, std::size_t{4} << 20>;

  static std::uint64_t bytes_at_once(const PhaseInfo& info, const RunContext& context) {
    return info.bytes_at_once * static_cast<std::uint64_t>(context.world->size());
  }

  /// A stage that may have to wait for everything that was written; a file system that is closed flushes too. Where the
  /// kernel counts what is written back, that is its progress; else it has the time of a slow target.
  void watch_flush(Watchdog::Work& stage) const {
    const std::int64_t slow_ns =
        flush_limit_ns(context_.watchdog->limit_ns(), context_.meter->bytes(), context_.world->size(), memory_bytes_);
    if (info_.access != Access::read && context_.write_back == nullptr) stage.limit_ns = slow_ns;
    if (info_.access != Access::read && context_.write_back != nullptr) {
      stage.write_back = context_.write_back;
      stage.server_ns = slow_ns;
      stage.nodes = context_.world->topology().nodes;
      // A file system may make a sync wait for what others have written.
      stage.longest_ns = stage_limit_ns(context_.watchdog->limit_ns(), memory_bytes_);
    }
    context_.watchdog->watch(stage);
  }

  void set(Stage stage, std::int64_t start, std::int64_t stop) { result_.stages[stage] = {start, stop}; }

  /// Is done also by a rank whose open failed: the others count on it where they agree.
  void transfer() {
    if (takes_part()) up_to(total_);
    if (info_.stonewall_ns == 0) return;
    Meter& meter = *context_.meter;
    result_.at_wall = AtWall{meter.last_ns() - result_.paused_ns, meter.bytes(), meter.operations()};
    if (!info_.wear_out) return;
    const auto most =
        static_cast<std::uint64_t>(context_.world->all().max(static_cast<std::int64_t>(meter.operations())));
    const std::int64_t now = now_ns();
    meter.set_deadline(info_.wear_out_limit_ns > 0 ? now + info_.wear_out_limit_ns : Meter::no_deadline);
    meter.resume(now);
    const std::int64_t ends_ns = running_ns() + info_.wear_out_limit_ns;
    if (!result_.error) up_to(most);
    result_.wear_out_cut = !result_.error && info_.wear_out_limit_ns > 0 && meter.operations() < most &&
                           meter.last_ns() - result_.paused_ns >= ends_ns;
  }

  [[nodiscard]] bool takes_part() const { return !result_.error || info_.collective; }

  /// Begins operations until `limit` of them were begun or the meter says stop.
  void up_to(std::uint64_t limit) {
    Meter& meter = *context_.meter;
    while (begun_ < limit) {
      if (prepared_ == 0 && !prepare_next(limit)) return;
      const std::uint64_t done_before = meter.operations();
      note(catch_resource_errors([&] { return work_.execute(meter); }));
      const std::uint64_t done = meter.operations() - done_before;
      const bool stopped = result_.error.has_value() || done < prepared_ || !meter.goes_on();
      begun_ += info_.collective ? prepared_ : done;
      prepared_ = 0;
      if (agreed(stopped)) return;
    }
  }

  /// Returns the time by a clock that stands still while operations are prepared, where it may.
  [[nodiscard]] std::int64_t running_ns() const { return now_ns() - result_.paused_ns + made_good_ns_; }

  /// False: this rank, which no other counts on, has not got what it needs.
  [[nodiscard]] bool prepare_next(std::uint64_t limit) {
    const std::int64_t from = now_ns();
    const std::uint64_t cpu_from = info_.clock_stops ? process_cpu_ns() : 0;
    const auto prepared = catch_resource_errors(
        [&] -> Result<std::uint64_t> { return work_.prepare(begun_, std::min(limit - begun_, most_a_batch_)); });
    if (!prepared) note(fail(prepared.error()));
    prepared_ = prepared.value_or(0);
    if (info_.clock_stops) paused_cpu_ns_ += process_cpu_ns() - cpu_from;
    const std::int64_t ready = now_ns();
    result_.prepare_ns += ready - from;
    if (info_.clock_stops) {
      result_.paused_ns += ready - from;
      context_.meter->postpone(ready - from);
    }
    context_.meter->resume(ready);
    return prepared.has_value();
  }

  /// A collective file's ranks stay together: without a wall they all do everything (a rank in error takes part with
  /// nothing), with one they agree after each operation.
  [[nodiscard]] bool agreed(bool stopped) const {
    if (!info_.collective) return stopped;
    return info_.stonewall_ns > 0 && context_.world->all().any(stopped);
  }

  /// When it was done; `transferred` where none is wanted.
  [[nodiscard]] std::int64_t sync(std::int64_t transferred) {
    if (!work_.wants_sync()) return transferred;
    watch_flush(syncing_);
    if (!result_.error || info_.collective || info_.collective_sync)
      note(catch_resource_errors([this] { return work_.sync(); }));
    // A device that has still to be waited for has worked on while the clock stood still.
    made_good_ns_ = std::min(result_.paused_ns, running_ns() - transferred);
    const std::int64_t synced = running_ns();
    context_.meter->count_sync();
    result_.synced = true;
    return synced;
  }

  const RunContext& context_;
  PhaseWork& work_;
  const PhaseInfo& info_;
  const Watchdog::Work opening_;
  const Watchdog::Work transferring_;
  Watchdog::Work syncing_;
  Watchdog::Work closing_;
  const std::uint64_t memory_bytes_;
  RankResult result_;
  std::uint64_t most_a_batch_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t total_ = 0;
  std::uint64_t prepared_ = 0;  // readied, not begun
  std::uint64_t begun_ = 0;
  std::uint64_t paused_cpu_ns_ = 0;
  std::int64_t made_good_ns_ = 0;
  std::unique_ptr<Meter> progress_;
  std::unique_ptr<RecordRoom> record_room_;
};

std::string word(Access access) {
  static constexpr std::array<const char*, 4> words{"none", "write", "read", "metadata"};
  return words.at(static_cast<std::size_t>(access));
}

Json record_of(const PhaseInfo& info, const mpi::World& world) {
  return Json{{"kind", "phase"},
              {"phase", info.name},
              {"access", word(info.access)},
              {"ranks", world.size()},
              {"cache_control", info.cache_control},
              {"data_of", info.data_of}};
}

/// A phase that could not begin: its record holds the failures and no measurement.
PhaseOutcome refused(const RunContext& context, const Error& error, Json& record) {
  Json failures = gather_failures(*context.world, error);
  const Json nothing{{"elapsed_ns", 0}, {"bytes", 0}, {"operations", 0}};
  record.update(Json{{"status", "failed"},
                     {"grade", "A"},
                     {"start_ns", 0},
                     {"elapsed_ns", 0},
                     {"bytes", 0},
                     {"operations", 0},
                     {"stages", Json::object()},
                     {"first_done", nothing},
                     {"last_done", nothing},
                     {"failures", std::move(failures)}});
  return {PhaseStatus::failed, 0, 'A'};
}

/// Untimed: what came back is checked unless something has gone wrong already. A mistake found is the rank's error.
void verify(const RunContext& context, PhaseWork& work, const PhaseInfo& info, PhaseExecution& execution,
            bool cut_short, Json& record) {
  const mpi::Comm& all = context.world->all();
  RankResult& result = execution.result();
  if (!all.any(result.error.has_value()) && !cut_short) {
    const Watched watched(*context.watchdog, info.name + ": verify", {}, &execution.progress());
    const Status looked = catch_resource_errors([&] -> Status {
      result.verification = work.after(context.meter->operations(), execution.progress());
      return {};
    });
    if (!looked) result.verification.first = looked.error();
    if (result.verification.first) result.error = result.verification.first;
  }
  const std::uint64_t verified = all.sum(result.verification.verified_bytes);
  const std::uint64_t bad = all.sum(result.verification.bad_blocks);
  record["verified_bytes"] = verified;
  record["bad_blocks"] = bad;
}

PhaseStatus status_of(const mpi::Comm& all, const RankResult& result, bool cut_short) {
  if (all.any(result.error.has_value())) return PhaseStatus::failed;
  return cut_short ? PhaseStatus::interrupted : PhaseStatus::ok;
}

/// The probes' grade on rank 0 becomes everybody's. Where none gives one nothing is known.
char agreed_grade(const mpi::Comm& all, Json& record) {
  if (!record.contains("grade")) record["grade"] = "?";
  const char grade = record["grade"].get<std::string>().front();
  return static_cast<char>(all.broadcast(static_cast<std::int64_t>(grade), 0));
}

/// They read files of the target and of the kernel.
template <class Call>
Status each_probe(const RunContext& context, const std::string& step, const Call& call) {
  if (context.probes.empty()) return {};
  const Watched watched(*context.watchdog, "probes: " + step);
  Status first;
  for (const auto& probe : context.probes) {
    const Status done = catch_resource_errors([&] -> Status {
      call(*probe);
      return {};
    });
    if (first && !done) first = done;
  }
  return first;
}

/// Collective: what each rank needs in the phase is there, or no rank begins it.
Status make_ready(const RunContext& context, PhaseWork& work, const PhaseInfo& info, PhaseExecution& execution) {
  const auto agreed_on = [&](const std::string& step, const auto& part) {
    return mpi::agreed_allocation(context.world->all(), [&] {
      const Watched watched(*context.watchdog, info.name + ": " + step);
      return part();
    });
  };
  Status ready = agreed_on("allocate", [&] { return execution.allocate(); });
  if (ready) ready = agreed_on("before", [&] { return work.before(); });
  if (ready) ready = agreed_on("prepare", [&] { execution.prepare_first(); });
  return ready;
}

/// Everything between the start barrier and the last rank's close.
bool execute_phase(const RunContext& context, const PhaseScope& scope, PhaseExecution& execution) {
  {
    const Watched stages(*context.watchdog, "the stages");
    context.world->all().barrier();
    execution.run();
  }
  execution.note(each_probe(context, "end", [&](Probe& probe) { probe.end(scope); }));
  const bool cut_short = context.world->all().any(StopFlags::instance().now().load());
  execution.note(each_probe(context, "settle", [&](Probe& probe) { probe.settle(scope); }));
  return cut_short;
}

}  // namespace

std::string word(PhaseStatus status) {
  static constexpr std::array<const char*, 3> words{"ok", "failed", "interrupted"};
  return words.at(static_cast<std::size_t>(status));
}

PhaseOutcome run_phase(const RunContext& context, const RunFolder* folder, PhaseWork& work, Json& record) {
  const mpi::Comm& all = context.world->all();
  const PhaseInfo info = work.info();
  const Watched watched(*context.watchdog, info.name + ": results");  // and whatever else is no step of its own
  record = record_of(info, *context.world);
  PhaseExecution execution(context, work, info);
  if (const Status ready = make_ready(context, work, info, execution); !ready)
    return refused(context, ready.error(), record);
  context.clock->before_phase();
  PhaseScope scope{context.world, folder, info.access == Access::read, info.access == Access::write, info.files, 0, 0};
  const Status looked = mpi::share_status(all, each_probe(context, "begin", [&](Probe& probe) { probe.begin(scope); }));
  if (!looked) return refused(context, looked.error(), record);
  const bool cut_short = execute_phase(context, scope, execution);
  execution.place(context.clock->after_phase());
  verify(context, work, info, execution, cut_short, record);
  execution.make_room_for_record();
  const RankResult& result = execution.result();

  PhaseOutcome outcome;
  outcome.elapsed_ns = reduce_phase(*context.world, result, info, *context.meter, record);
  scope.elapsed_ns = outcome.elapsed_ns + all.max(result.paused_ns);  // what a probe counts does not stand still
  scope.requested_bytes = all.sum(context.meter->bytes());
  execution.note(each_probe(context, "report", [&](Probe& probe) { probe.report(scope, record); }));
  outcome.status = status_of(all, result, cut_short);
  if (outcome.status == PhaseStatus::failed) record["failures"] = gather_failures(*context.world, result.error);
  outcome.grade = agreed_grade(all, record);
  record["status"] = word(outcome.status);
  record["counters"] = counters_json(all, work.counters());
  record["gauges"] = gauges_json(all, work.gauges());
  record["facts"] = Json::object();
  work.add_facts(record["facts"]);
  record["hints_given"] = work.hints_given();
  record["hints_granted"] = work.hints_granted();
  return outcome;
}

}  // namespace ullage
