// SPDX-License-Identifier: Apache-2.0
// One repetition of workload `stepfile` on a target of the tests. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "run/phase_runner.hpp"
#include "run/test_support.hpp"
#include "storage/backend.hpp"
#include "storage/manifest.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/stepfile/parameters.hpp"
#include "work/workload.hpp"

namespace ullage::stepfile_test {

inline const WorkloadEntry& entry() { return *Registry<WorkloadEntry>::instance().find("stepfile"); }

inline Values values_of(Values given) {
  given.emplace("steps", std::int64_t{12});
  given.emplace("state_bytes", std::int64_t{4096});
  const auto values = complete(entry().description.parameters, given, "");
  EXPECT_TRUE(values.has_value()) << test::line_of(values);
  return values.value_or(Values{});
}

inline StepfileParameters parameters_of(const Values& given) { return StepfileParameters::from(values_of(given)); }

class OneRepetition : public ::testing::Test {
 protected:
  OneRepetition() : meter_(StopFlags::instance().now()), watchdog_({}) { use("posix"); }

  void use(const std::string& backend, const Values& given = {}) { backend_ = bench_.make(backend, given); }

  [[nodiscard]] std::unique_ptr<Workload> make(const Values& given) {
    StorageContext bound = bound_to(bench_, *backend_, "first");
    bound.room_bytes = room_bytes_;
    if (further_) {
      bound.spill.push_back(bound_to(*further_, *further_backend_, "second"));
      bound.spill.back().room_bytes = further_room_bytes_;
    }
    return std::get<StorageWork>(entry().work).make(values_of(given), bound);
  }

  [[nodiscard]] StorageContext bound_to(const test::Bench& bench, Backend& backend, const std::string& target) {
    StorageContext bound;
    bound.world = &world();
    bound.folder = has_path_ ? &bench.folder() : nullptr;
    bound.backend = &backend;
    bound.buffer = &buffer_;
    bound.case_id = id();
    bound.run_key = 42;
    bound.part = world().rank();
    bound.parts = world().size();
    bound.writes_manifest = world().root();
    bound.target = target;
    return bound;
  }

  /// A further target behind the first, each with room for so many states of a rank.
  void spill_to_second(std::uint64_t first_states, std::uint64_t second_states) {
    further_ = std::make_unique<test::Bench>();
    further_backend_ = further_->make("posix");
    room_bytes_ = 4096 * first_states;
    further_room_bytes_ = 4096 * second_states;
  }

  /// Collective. begin, both phases with `between` on every rank before the second, end, whatever fails; the records of
  /// the phases that were run, on every rank.
  Json run(const Values& given, const std::function<void()>& between = [] {}) {
    const auto workload = make(given);
    status_ = PhaseStatus::ok;
    const auto begun = begin_together(*workload, world().all());
    EXPECT_TRUE(begun.everywhere) << test::line_of(begun.own);
    Json records = Json::array();
    const RunContext context{&world(), &clock_, &watchdog_, &meter_, {}, 0};
    for (std::size_t i = 0; i < workload->phases() && status_ == PhaseStatus::ok; ++i) {
      if (i == 1) between();
      world().all().barrier();
      const auto work = workload->phase(i);
      Json record;
      status_ = run_phase(context, &bench_.folder(), *work, record).status;
      records.push_back(record);
    }
    ended_ = end_together(*workload, true, world().all()).own;
    EXPECT_TRUE(ended_.has_value()) << test::line_of(ended_);
    return Json::parse(world().all().broadcast(records.dump(), 0));
  }

  [[nodiscard]] const mpi::World& world() const { return bench_.world(); }
  [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(world().size()); }
  [[nodiscard]] static std::string id() { return "00000000000000a1"; }
  /// The file of a state of any rank.
  [[nodiscard]] std::string state_path(const Values& given, std::uint64_t rank, std::uint64_t step) const {
    return bench_.path("c-" + id() + "/" + parameters_of(given).shape(ranks()).file_path(rank, step));
  }
  void expect_nothing_left() {
    world().all().barrier();
    const std::vector<std::string> own{".ullage-run", "manifest.ndjson"};
    EXPECT_EQ(test::names_in(bench_.folder().path()), own);
    if (further_) {
      EXPECT_EQ(test::names_in(further_->folder().path()), own);
    }
    world().all().barrier();
  }

  test::KeptSignals kept_;
  test::Bench bench_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<test::Bench> further_;
  std::unique_ptr<Backend> further_backend_;
  bool has_path_ = true;  // of the target
  std::uint64_t room_bytes_ = 0;
  std::uint64_t further_room_bytes_ = 0;
  mpi::CommonClock clock_;
  AlignedBuffer buffer_;
  Meter meter_;
  Watchdog watchdog_;
  PhaseStatus status_ = PhaseStatus::ok;
  Status ended_;
};

inline Value words(const char* word) { return std::string(word); }
inline Value number(std::int64_t count) { return count; }

}  // namespace ullage::stepfile_test
