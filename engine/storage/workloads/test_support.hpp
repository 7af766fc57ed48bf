// SPDX-License-Identifier: Apache-2.0
// One repetition of a workload on a target of the tests, by the runner of the product. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include "run/phase_runner.hpp"
#include "run/test_support.hpp"
#include "storage/storage_context.hpp"
#include "work/workload.hpp"

namespace ullage::test {

/// Is done by every rank does before the phase of that number.
using BeforePhase = std::function<void(std::size_t phase)>;

inline BeforePhase before_second(std::function<void()> step) {
  return [step = std::move(step)](std::size_t phase) {
    if (phase == 1) step();
  };
}

/// A target, a backend and what a launch has, for repetitions of the case `id`.
class StorageWorkloadTest : public ::testing::Test {
 protected:
  explicit StorageWorkloadTest(std::string id) : id_(std::move(id)), meter_(StopFlags::instance().now()) {}

  void use(const std::string& backend, const Values& given = {}) { backend_ = bench_.make(backend, given); }

  [[nodiscard]] StorageContext context() { return context_on(bench_, *backend_); }
  [[nodiscard]] StorageContext context_on(const Bench& bench, Backend& backend) {
    StorageContext bound;
    bound.world = &world();
    bound.folder = has_path_ ? &bench.folder() : nullptr;
    bound.backend = &backend;
    bound.buffer = &buffer_;
    bound.case_id = id_;
    bound.run_key = 42;
    bound.part = world().rank();
    bound.parts = world().size();
    bound.writes_manifest = world().root();
    return bound;
  }

  /// Collective. Does the steps of begin, all phases until one is not ok, and the steps of end, whatever fails. Returns
  /// the records of the phases that were run, on every rank.
  Json run_phases(Workload& workload, const BeforePhase& before = {}, bool whole = true) {
    const mpi::Agreement begun = begin_together(workload, world().all());
    begun_ = begun.own;
    status_ = begun.everywhere ? PhaseStatus::ok : PhaseStatus::failed;
    Json records = Json::array();
    for (std::size_t i = 0; i < workload.phases() && status_ == PhaseStatus::ok; ++i) {
      if (before) before(i);
      world().all().barrier();
      const auto work = workload.phase(i);
      Json record;
      status_ = run_phase(run_context(), has_path_ ? &bench_.folder() : nullptr, *work, record).status;
      records.push_back(record);
    }
    ended_ = end_together(workload, whole && status_ == PhaseStatus::ok, world().all()).own;
    EXPECT_TRUE(ended_.has_value()) << line_of(ended_);
    return Json::parse(world().all().broadcast(records.dump(), 0));
  }

  [[nodiscard]] RunContext run_context() { return {&world(), &clock_, &watchdog_, &meter_, {}, 0}; }
  [[nodiscard]] const mpi::World& world() const { return bench_.world(); }
  [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(world().size()); }
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] std::string in_dataset(const std::string& path) const { return bench_.path("c-" + id_ + "/" + path); }

  void expect_nothing_left() const { expect_nothing_left_in(bench_); }
  void expect_nothing_left_in(const Bench& bench) const {
    world().all().barrier();
    EXPECT_EQ(names_in(bench.folder().path()), (std::vector<std::string>{".ullage-run", "manifest.ndjson"}));
    world().all().barrier();
  }

  const std::string id_;
  KeptSignals kept_;
  Bench bench_;
  std::unique_ptr<Backend> backend_;
  bool has_path_ = true;  // whether the target has one
  mpi::CommonClock clock_;
  AlignedBuffer buffer_;
  Meter meter_;
  Watchdog watchdog_{{}};
  Status begun_;
  PhaseStatus status_ = PhaseStatus::ok;
  Status ended_;
};

}  // namespace ullage::test
