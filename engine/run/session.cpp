// SPDX-License-Identifier: Apache-2.0
#include "run/session.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "base/json.hpp"
#include "base/signals.hpp"
#include "base/std.hpp"
#include "mpi/agreement.hpp"
#include "mpi/clock_sync.hpp"
#include "probes/probe.hpp"
#include "run/launch_records.hpp"
#include "run/launch_watch.hpp"
#include "run/phase_result.hpp"
#include "run/phase_runner.hpp"
#include "run/places.hpp"
#include "run/plan.hpp"
#include "run/repetition.hpp"
#include "run/schedule.hpp"
#include "run/target_template.hpp"

namespace ullage {
namespace {

int exit_code_of(ErrorKind kind) { return kind == ErrorKind::bad_plan ? exit_code::bad_plan : exit_code::environment; }

int report(const mpi::World& world, const Error& error) {
  if (world.root()) std::cerr << "ullage-engine: " << to_line(error) << '\n';
  return exit_code_of(error.kind);
}

/// Rank 0 reads, everybody parses the same text: no second wire format.
Result<Plan> read_plan(const std::string& path, const mpi::World& world) {
  std::string text;
  bool readable = true;
  if (world.root()) {
    std::ifstream file(path, std::ios::binary);
    readable = static_cast<bool>(file);
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  if (world.all().any(!readable)) return fail(bad_plan(path, "cannot be read"));
  return parse_plan(world.all().broadcast(std::move(text), 0));
}

Status check_layout(const PlannedLayout& layout, const mpi::Topology& topology) {
  const auto differs = [](const std::string& what, int planned, int found) {
    return fail(environment_error("/layout/" + what, "the plan needs " + std::to_string(planned) +
                                                         ", but this launch has " + std::to_string(found) +
                                                         "; use the mpiexec of this engine's MPI"));
  };
  if (layout.ranks != topology.ranks) return differs("ranks", layout.ranks, topology.ranks);
  if (layout.nodes && *layout.nodes != topology.nodes) return differs("nodes", *layout.nodes, topology.nodes);
  if (layout.ranks_per_node && *layout.ranks_per_node != topology.most_ranks_on_a_node)
    return differs("ranks_per_node", *layout.ranks_per_node, topology.most_ranks_on_a_node);
  return {};
}

/// Markers beside the records: of a hang that was written down, and of a request to stop.
void forget_earlier_launch(const std::string& records) {
  std::error_code ignored;
  for (const char* suffix : {".timeout", ".stop", ".alive"}) std::filesystem::remove(records + suffix, ignored);
}

/// Everything of one launch that lives as long as it does.
class Session final {
 public:
  Session(const mpi::World& world, const Plan& plan, Places places, std::optional<RecordWriter> writer,
          LaunchFacts facts, LaunchWatch& watch)
      : world_(world),
        plan_(plan),
        places_(std::move(places)),
        writer_(std::move(writer)),
        facts_(std::move(facts)),
        clock_(world),
        origin_ns_(world.all().broadcast(now_ns(), 0)),
        meter_(StopFlags::instance().now()),
        watch_(watch) {
    set_origin();
    for (const auto& entry : Registry<ProbeEntry>::instance().all())
      if (!entry.description.unavailable()) probes_.push_back(entry.make());
  }

  [[nodiscard]] int run() {
    write_head();
    const auto& rule_entry = *Registry<StopRuleEntry>::instance().find(plan_.stop_rule.name);
    const auto rule = rule_entry.make(plan_.stop_rule.values);
    Schedule schedule(plan_, *rule);
    while (const auto next = agreed_next(schedule)) {
      one_repetition(*next, schedule);
    }
    return finish(schedule);
  }

 private:
  [[nodiscard]] std::int64_t elapsed_ns() const { return watch_.elapsed_ns(); }
  void set_origin() { watch_.set_origin(origin_ns_ - clock_.sync().offset_ns); }

  void write(const Json& record) {
    if (!writer_) return;
    const Watched watched(watch_.watchdog(), "write records");
    writer_->write(record);
  }

  void write_head() {
    const Watched watched(watch_.watchdog(), "gather facts of the nodes");
    const CoreBudget budget = core_budget(world_);
    const Json head = run_record(plan_, facts_, world_, clock_.sync(), budget, origin_ns_);
    write(head);
    for (const Json& event : launch_events(head)) write(event);
    report_nodes(world_, [this](const std::string& node, const Json& facts) {
      write({{"kind", "probe"}, {"probe", "node"}, {"node", node}, {"facts", facts}});
    });
  }

  /// Rank 0 decides, everybody follows. A request to stop at any rank ends the run for all.
  [[nodiscard]] std::optional<Schedule::Next> agreed_next(Schedule& schedule) {
    // What cannot be written down need not be measured.
    const bool unwritten = writer_ && !writer_->status();
    interrupted_ = world_.all().any(StopFlags::instance().requested() || unwritten);
    if (interrupted_) return std::nullopt;
    std::optional<Schedule::Next> next;
    if (world_.root()) next = schedule.next(elapsed_ns());
    const std::int64_t index = world_.all().broadcast(next ? static_cast<std::int64_t>(next->index) : -1, 0);
    if (index < 0) return std::nullopt;
    if (!next) next = Schedule::Next{static_cast<std::size_t>(index), 0, false};
    next->repetition = static_cast<int>(world_.all().broadcast(next->repetition, 0));
    next->warmup = world_.all().broadcast(next->warmup ? 1 : 0, 0) != 0;
    return next;
  }

  void one_repetition(const Schedule::Next& next, Schedule& schedule) {
    const PlannedCase& planned = plan_.cases[next.index];
    const RunContext context{&world_, &clock_, &watch_.watchdog(), &meter_, probes_, origin_ns_};
    const std::int64_t start = elapsed_ns();
    watch_.begins({planned.id, next.repetition});
    std::vector<const Place*> spill;
    spill.reserve(planned.spill.size());
    for (const std::string& name : planned.spill) spill.push_back(&places_.at(name));
    RepetitionReport report = run_repetition(context, plan_, planned, places_.at(planned.target), next, buffer_, spill);
    watch_.ends(report.outcome.ok, report.interrupted);
    set_origin();  // phases measure the clocks
    report.outcome.elapsed_ns = elapsed_ns() - start;
    if (!world_.root()) return;
    Verdict verdict;
    if (!report.interrupted) verdict = schedule.finished(next, report.outcome, elapsed_ns());
    for (const Json& record : report.records) write(record);
    write(case_record(planned, next, report, verdict));
  }

  [[nodiscard]] int finish(const Schedule& schedule) {
    const bool stays = plan_.keep || (interrupted_ && plan_.keep_when_interrupted);
    if (!stays) report_left(places_.remove(world_, watch_.watchdog()));
    if (world_.root())
      for (const std::size_t index : schedule.cut_by_budget()) {
        Json cut = event("info", "budget", "the time budget ended before the stop rule was satisfied",
                         "give more --time, or run fewer cases");
        cut["case"] = plan_.cases[index].id;
        write(cut);
      }
    const CaseCounts tally = watch_.tally();
    const bool failed = !tally.failed.empty();
    const std::string status = interrupted_ ? "interrupted" : failed ? "failed" : "complete";
    write({{"kind", "end"},
           {"status", status},
           {"cases_ok", tally.ok.size()},
           {"cases_failed", tally.failed.size()},
           {"repetitions", tally.repetitions},
           {"elapsed_ns", elapsed_ns()}});
    const bool unwritten = writer_ && !writer_->status();
    if (unwritten) std::cerr << "ullage-engine: " << to_line(writer_->status().error()) << '\n';
    if (world_.all().any(unwritten)) return exit_code::environment;
    return interrupted_ ? exit_code::aborted : failed ? exit_code::case_failed : exit_code::ok;
  }

  /// Collective: what any rank could not remove from its file system.
  void report_left(const std::vector<std::string>& left) {
    std::string lines;
    for (const auto& line : left) lines += (lines.empty() ? "" : "; ") + line;
    const auto mine = left.empty() ? std::nullopt : std::optional(environment_error("", lines));
    for (const Json& failure : gather_failures(world_, mine)) {
      Json behind = event("warning", "left-behind", failure["text"],
                          "'ullage clean' removes what a manifest lists and no other files");
      behind["node"] = failure["node"];
      write(behind);
    }
  }

  const mpi::World& world_;
  const Plan& plan_;
  Places places_;
  std::optional<RecordWriter> writer_;
  LaunchFacts facts_;
  mpi::CommonClock clock_;
  std::int64_t origin_ns_;
  Meter meter_;
  AlignedBuffer buffer_;
  std::vector<std::unique_ptr<Probe>> probes_;
  bool interrupted_ = false;
  LaunchWatch& watch_;
};

/// Watches what comes before the plan has said for how long, and where records are: of a hang then one line is all.
Watchdog::Options watch_of_start(const mpi::World& world) {
  return {.on_hang = [&world](const std::string& what, std::int64_t limit_ns) {
    std::cerr << "ullage-engine: " << no_progress(world.topology(), what, limit_ns) << '\n' << std::flush;
    mpi::abort_all(exit_code::aborted);
  }};
}

/// Collective: the plan, where it fits this launch.
Result<Plan> accepted_plan(const std::string& path, const mpi::World& world) {
  auto plan = read_plan(path, world);
  if (!plan) return plan;
  if (const auto status = check_layout(plan->layout, world.topology()); !status) return fail(status.error());
  if (const auto status = mpi::share_status(world.all(), expand_targets(*plan, world)); !status)
    return fail(status.error());
  if (world.root()) forget_earlier_launch(plan->records);  // before a watch looks for them
  return plan;
}

}  // namespace

int run_plan(const std::string& plan_path, const mpi::World& world) {
  StopFlags::instance().install();
  Watchdog start(watch_of_start(world));
  auto plan = [&] {
    const Watched watched(start, "read the plan");
    return accepted_plan(plan_path, world);
  }();
  if (!plan) return report(world, plan.error());

  LaunchWatch watch(*plan, world);
  start.end();
  std::optional<RecordWriter> writer;
  Status opened;
  if (world.root()) {
    const Watched watched(watch.watchdog(), "open the records");
    auto result = RecordWriter::open(plan->records);
    if (!result) opened = fail(result.error());
    if (result) writer = std::move(*result);
  }
  if (!mpi::all_succeeded(world.all(), opened))
    return report(world, opened ? environment_error(plan->records, "cannot be written") : opened.error());

  auto places = Places::prepare(*plan, world, watch.watchdog());
  if (!places) return report(world, places.error());
  Session session(world, *plan, std::move(*places), std::move(writer), {plan_path}, watch);
  return session.run();
}

}  // namespace ullage
