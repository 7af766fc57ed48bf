// SPDX-License-Identifier: Apache-2.0
// The records that are not phases: run, case, event, and the end a hung rank writes for all.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "mpi/clock_sync.hpp"
#include "mpi/comm.hpp"
#include "mpi/file.hpp"
#include "probes/probe.hpp"
#include "run/describe.hpp"
#include "run/plan.hpp"
#include "run/repetition.hpp"
#include "run/schedule.hpp"
#include "storage/run_folder.hpp"

namespace ullage {

/// Appends NDJSON, one write(2) a line, so that a reader (or another rank in an emergency) never sees half of two lines
/// mixed.
class RecordWriter final {
 public:
  [[nodiscard]] static Result<RecordWriter> open(const std::string& path) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) {
      Error error = errno_error(errno, "open records", path);
      error.kind = ErrorKind::environment;
      return fail(std::move(error));
    }
    return RecordWriter(Descriptor(fd), path);
  }

  /// Nothing is written after the first failure, which is kept in status(): what comes after a gap would look whole.
  void write(const Json& record) {
    if (!status_) return;  // what comes after a gap would look whole
    const std::string line = json_text(record) + '\n';
    const off_t before = ::lseek(file_.get(), 0, SEEK_END);
    std::size_t done = 0;
    while (done < line.size()) {
      const ssize_t n = ::write(file_.get(), line.data() + done, line.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        status_ = fail(errno_error(errno, "write records", path_));
        // Part of a line would swallow what is appended later.
        if (before >= 0) (void)!::ftruncate(file_.get(), before);
        return;
      }
      done += static_cast<std::size_t>(n);
    }
  }

  [[nodiscard]] const Status& status() const noexcept { return status_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  RecordWriter(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Descriptor file_;
  std::string path_;
  Status status_;
};

struct LaunchFacts {
  std::string plan_path;
};

struct CurrentRepetition {
  std::string case_id;  // empty: before the first or after the last
  int repetition = 0;
};

/// Counts what became of the cases so far, the same on every rank.
struct CaseCounts {
  std::set<std::string> ok;  // cases with a good repetition and no bad one
  std::set<std::string> failed;
  int repetitions = 0;  // good ones

  void count(const std::string& case_id, bool is_ok) {
    if (is_ok) {
      ++repetitions;
      if (!failed.contains(case_id)) ok.insert(case_id);
    } else {
      failed.insert(case_id);
      ok.erase(case_id);
    }
  }
};

/// Why a launch is ended by its watch, and which rank is to blame.
struct Hang {
  int rank = 0;
  std::string node;
  std::string text;
};

inline std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

inline Json clock_json(const mpi::World& world, const mpi::ClockSync& clock) {
  return {{"source", "CLOCK_MONOTONIC"},
          {"read_cost_ns", world.root() ? clock_read_cost_ns() : 0},
          {"largest_offset_ns", clock.largest_offset_ns},
          {"largest_offset_rank", clock.largest_offset_rank},
          {"residual_ns", clock.largest_residual_ns}};
}

/// A rank with several threads that is alone on its node has all cores to itself, and none that it must not use.
inline Json pinning_json(const mpi::World& world, const CoreBudget& budget, int threads) {
  const mpi::Topology& topology = world.topology();
  const bool has_own_cores = budget.pinned || (threads > 1 && topology.ranks_on_node == 1);
  const auto pinned = world.all().sum(has_own_cores ? 1 : 0);
  const std::int64_t cores = world.all().min(budget.cores_available);
  const bool oversubscribed = world.all().any(topology.ranks_on_node > budget.cores_available);
  return {{"pinned_ranks", pinned},
          {"unpinned_ranks", static_cast<std::uint64_t>(world.size()) - pinned},
          {"cores_available", cores},
          {"most_ranks_on_a_node", topology.most_ranks_on_a_node},
          {"oversubscribed", oversubscribed}};
}

inline Json layout_json(const PlannedLayout& planned, const mpi::Topology& topology) {
  return {{"ranks", topology.ranks},
          {"nodes", topology.nodes},
          {"ranks_per_node", topology.most_ranks_on_a_node},
          {"threads", planned.threads},
          {"binding", planned.binding}};
}

/// Collective; the record is rank 0's.
[[nodiscard]] inline nlohmann::json run_record(const Plan& plan, const LaunchFacts& facts, const mpi::World& world,
                                               const mpi::ClockSync& clock, const CoreBudget& budget,
                                               std::int64_t origin_ns) {
  const Json pinning = pinning_json(world, budget, plan.layout.threads);
  return {{"kind", "run"},
          {"schema", "ullage.record/1"},
          {"run_id", plan.run_id},
          {"suite", plan.suite},
          {"plan", facts.plan_path},
          {"started", utc_now()},
          {"origin_ns", origin_ns},
          {"engine", describe_build()},
          {"mpi_io", world.root() ? mpi::mpi_io_component() : ""},
          {"layout", layout_json(plan.layout, world.topology())},
          {"clock", clock_json(world, clock)},
          {"pinning", pinning}};
}

/// Skews above this are worth a warning even when they are calibrated away.
inline constexpr std::int64_t remarkable_offset_ns = 1'000'000'000;
inline constexpr std::int64_t remarkable_residual_ns = 1'000'000;

[[nodiscard]] inline nlohmann::json event(const std::string& severity, const std::string& code, const std::string& text,
                                          const std::string& advice) {
  return {{"kind", "event"}, {"severity", severity}, {"code", code}, {"text", text}, {"advice", advice}};
}

/// The text has no numbers of a launch, so that launches of one run with the same cause make one finding.
inline Json unpinned_event(const Json& run) {
  const Json& pinning = run["pinning"];
  const bool cores_lack = pinning["most_ranks_on_a_node"].get<int>() * run["layout"]["threads"].get<int>() >
                          pinning["cores_available"].get<int>();
  if (cores_lack)
    return event("warning", "unpinned", "there are fewer cores than threads of the ranks, so the ranks are not bound",
                 "threads of a rank may take the core on which another one computes; use fewer ranks or threads");
  return event("warning", "unpinned", json_text(pinning["unpinned_ranks"]) + " ranks are not bound to a core",
               "the scheduler may move them during a phase; bind them in the launcher");
}

/// Returns what the run record says that its readers must not overlook: oversubscription, unpinned ranks, clocks apart.
[[nodiscard]] inline std::vector<nlohmann::json> launch_events(const Json& run) {
  std::vector<Json> events;
  const Json& pinning = run["pinning"];
  if (pinning["oversubscribed"].get<bool>())
    events.push_back(event("warning", "oversubscribed",
                           json_text(pinning["most_ranks_on_a_node"]) + " ranks on a node share " +
                               json_text(pinning["cores_available"]) + " cores",
                           "ranks wait for each other's time slices; these rows describe the node under that load, "
                           "not its best"));
  else if (pinning["unpinned_ranks"].get<std::uint64_t>() > 0 && run["layout"]["ranks"].get<int>() > 1)
    events.push_back(unpinned_event(run));
  const Json& clock = run["clock"];
  if (std::llabs(clock["largest_offset_ns"].get<long long>()) > remarkable_offset_ns) {
    events.push_back(event("warning", "clock-skew",
                           "the clock of rank " + json_text(clock["largest_offset_rank"]) + " is " +
                               json_text(clock["largest_offset_ns"]) + " ns from that of rank 0; calibration leaves " +
                               json_text(clock["residual_ns"]) + " ns",
                           "these results need no action; tools that trust the clocks give wrong times here"));
    events.back()["rank"] = clock["largest_offset_rank"];
  }
  if (clock["residual_ns"].get<long long>() > remarkable_residual_ns)
    events.push_back(event("warning", "clock-residual",
                           "offsets between clocks are known to " + json_text(clock["residual_ns"]) + " ns only",
                           "do not use phases that are not much longer than that"));
  return events;
}

[[nodiscard]] inline nlohmann::json case_record(const PlannedCase& planned, const Schedule::Next& next,
                                                const RepetitionReport& report, const Verdict& verdict) {
  Json record{{"kind", "case"},
              {"case", planned.id},
              {"repetition", next.repetition},
              {"warmup", next.warmup},
              {"status", report.interrupted  ? "interrupted"
                         : report.outcome.ok ? "ok"
                                             : "failed"},
              {"grade", std::string(1, report.outcome.grade)},
              {"stop", report.interrupted ? "interrupted" : verdict.stop},
              {"target", planned.target},
              {"backend", planned.backend.name},
              {"workload", planned.workload.name},
              {"backend_parameters", to_json(planned.backend.values)},
              {"workload_parameters", to_json(planned.workload.values)},
              {"elapsed_ns", report.outcome.elapsed_ns}};
  if (verdict.relative_width) record["relative_width"] = *verdict.relative_width;
  return record;
}

[[nodiscard]] inline std::string failure_line(const Json& failure) {
  std::string line = "rank " + json_text(failure["rank"]) + " on " + failure["node"].get<std::string>() + ":";
  for (const char* const part : {"operation", "path"})
    if (const auto words = failure[part].get<std::string>(); !words.empty()) line += " " + words;
  line += ": " + failure["text"].get<std::string>();
  if (failure["errno"] != 0) line += " (errno " + json_text(failure["errno"]) + ")";
  return line;
}

/// Appends event, case and end records for a launch that hangs. False: another rank does so, or nothing can be written.
inline bool write_timeout_records(const Plan& plan, const CurrentRepetition& current, CaseCounts tally,
                                  const Hang& hang, std::int64_t elapsed_ns) {
  const std::string marker = plan.records + ".timeout";
  const Descriptor first(::open(marker.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!first) return false;
  auto writer = RecordWriter::open(plan.records);
  if (!writer) return false;
  Json line = event("error", "timeout", hang.text,
                    "the run was ended; 'ullage clean' removes what it left, 'ullage resume' runs the rest");
  line.update(Json{{"rank", hang.rank}, {"node", hang.node}});
  if (!current.case_id.empty()) line["case"] = current.case_id;
  writer->write(line);
  for (const auto& planned : plan.cases) {
    if (planned.id != current.case_id) continue;
    tally.count(planned.id, false);
    RepetitionReport report;
    report.outcome.ok = false;
    Json record = case_record(planned, {0, current.repetition, false}, report, {"timeout", std::nullopt});
    record["status"] = "timeout";
    writer->write(record);
  }
  writer->write({{"kind", "end"},
                 {"status", "timeout"},
                 {"cases_ok", tally.ok.size()},
                 {"cases_failed", tally.failed.size()},
                 {"repetitions", tally.repetitions},
                 {"elapsed_ns", elapsed_ns}});
  return true;
}

/// Collective over the node. What a node's leader does when the stop file appears: passes SIGTERM to its node's ranks.
[[nodiscard]] inline std::function<void()> stop_node(const mpi::World& world) {
  // Process ids of the node's other ranks, known to its leader only; a leader alone has none.
  std::vector<pid_t> pids;
  constexpr int tag_pid = 72;
  if (world.topology().leader()) {
    for (int i = 1; i < world.node().size(); ++i) {
      pid_t pid = 0;
      world.node().receive(std::as_writable_bytes(std::span(&pid, 1)), mpi::Comm::any_source, tag_pid);
      pids.push_back(pid);
    }
  } else {
    const pid_t pid = getpid();
    world.node().send(std::as_bytes(std::span(&pid, 1)), 0, tag_pid);
  }
  return [pids = std::move(pids)] {
    for (const pid_t pid : pids) kill(pid, SIGTERM);
    raise(SIGTERM);
  };
}

}  // namespace ullage
