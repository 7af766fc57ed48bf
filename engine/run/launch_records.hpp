// SPDX-License-Identifier: Apache-2.0
// The records that are not phases: run, case, event, and the end a hung rank writes for all.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "mpi/clock_sync.hpp"
#include "mpi/comm.hpp"
#include "probes/probe.hpp"
#include "run/plan.hpp"
#include "run/repetition.hpp"
#include "run/schedule.hpp"
#include "storage/run_folder.hpp"

namespace ullage {

/// Appends NDJSON, one write(2) a line, so that a reader (or another rank in an emergency) never sees half of two lines
/// mixed.
class RecordWriter final {
 public:
  [[nodiscard]] static Result<RecordWriter> open(const std::string& path);
  /// Nothing is written after the first failure, which is kept in status(): what comes after a gap would look whole.
  void write(const nlohmann::json& record);
  [[nodiscard]] const Status& status() const noexcept { return status_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  RecordWriter(Descriptor file, std::string path);
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
  void count(const std::string& case_id, bool is_ok);
};

/// Why a launch is ended by its watch, and which rank is to blame.
struct Hang {
  int rank = 0;
  std::string node;
  std::string text;
};

/// Collective; the record is rank 0's.
[[nodiscard]] nlohmann::json run_record(const Plan& plan, const LaunchFacts& facts, const mpi::World& world,
                                        const mpi::ClockSync& clock, const CoreBudget& budget, std::int64_t origin_ns);
/// Returns what the run record says that its readers must not overlook: oversubscription, unpinned ranks, clocks apart.
[[nodiscard]] std::vector<nlohmann::json> launch_events(const nlohmann::json& run);
[[nodiscard]] nlohmann::json case_record(const PlannedCase& planned, const Schedule::Next& next,
                                         const RepetitionReport& report, const Verdict& verdict);
[[nodiscard]] nlohmann::json event(const std::string& severity, const std::string& code, const std::string& text,
                                   const std::string& advice);
[[nodiscard]] std::string failure_line(const nlohmann::json& failure);

/// Appends event, case and end records for a launch that hangs. False: another rank does so, or nothing can be written.
bool write_timeout_records(const Plan& plan, const CurrentRepetition& current, CaseCounts tally, const Hang& hang,
                           std::int64_t elapsed_ns);

/// Collective over the node. What a node's leader does when the stop file appears: passes SIGTERM to its node's ranks.
[[nodiscard]] std::function<void()> stop_node(const mpi::World& world);

}  // namespace ullage
