// SPDX-License-Identifier: Apache-2.0
// One repetition of workload `overlap` on a target of the tests. Included by tests only.
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
#include "storage/storage_context.hpp"
#include "storage/workloads/overlap/parameters.hpp"
#include "work/workload.hpp"

namespace ullage::overlap_test {

inline const WorkloadEntry& entry() { return *Registry<WorkloadEntry>::instance().find("overlap"); }
inline Value number(std::int64_t count) { return count; }
inline Value words(const char* word) { return std::string(word); }

/// Few and small stretches, and a computation that takes next to nothing.
inline Values values_of(Values given) {
  given.emplace("transfer_bytes", number(4096));
  given.emplace("depth", number(2));
  given.emplace("batches", number(3));
  given.emplace("rounds", number(2));
  given.emplace("blocks", number(100));
  const auto values = complete(entry().description.parameters, given, "");
  EXPECT_TRUE(values.has_value()) << test::line_of(values);
  return values.value_or(Values{});
}

inline OverlapParameters parameters_of(const Values& given) { return OverlapParameters::from(values_of(given)); }

class OneRepetition : public ::testing::Test {
 protected:
  OneRepetition() : bench_(std::make_unique<test::Bench>()), meter_(StopFlags::instance().now()), watchdog_({}) {
    use("posix");
  }

  void use(const std::string& backend, const Values& given = {}) { backend_ = bench_->make(backend, given); }
  /// On another target.
  void use_at(const std::string& target, const std::string& backend) {
    backend_.reset();
    bench_ = std::make_unique<test::Bench>(target);
    use(backend);
  }

  [[nodiscard]] std::unique_ptr<Workload> make(const Values& given) {
    StorageContext bound;
    bound.world = &world();
    bound.folder = has_path_ ? &bench_->folder() : nullptr;
    bound.backend = backend_.get();
    bound.buffer = &buffer_;
    bound.case_id = "00000000000000c3";
    bound.run_key = 42;
    bound.part = world().rank();
    bound.parts = world().size();
    bound.writes_manifest = world().root();
    return std::get<StorageWork>(entry().work).make(values_of(given), bound);
  }

  /// Collective. begin, all phases with `between` on every rank before the second, end, whatever fails; the records of
  /// the phases that were run, on every rank.
  Json run(const Values& given, const std::function<void()>& between = [] {}) {
    const auto workload = make(given);
    const auto begun = begin_together(*workload, world().all());
    begun_ = begun.own;
    status_ = begun.everywhere ? PhaseStatus::ok : PhaseStatus::failed;
    Json records = Json::array();
    const RunContext context{&world(), &clock_, &watchdog_, &meter_, {}, 0};
    for (std::size_t i = 0; i < workload->phases() && status_ == PhaseStatus::ok; ++i) {
      if (i == 1) between();
      world().all().barrier();
      const auto work = workload->phase(i);
      Json record;
      status_ = run_phase(context, has_path_ ? &bench_->folder() : nullptr, *work, record).status;
      records.push_back(record);
    }
    const Status ended = end_together(*workload, status_ == PhaseStatus::ok, world().all()).own;
    EXPECT_TRUE(ended.has_value()) << test::line_of(ended);
    return Json::parse(world().all().broadcast(records.dump(), 0));
  }

  [[nodiscard]] const mpi::World& world() const { return bench_->world(); }
  [[nodiscard]] int ranks() const { return world().size(); }
  [[nodiscard]] std::string file_of(int rank) const {
    DatasetEntry dataset;
    dataset.directory = directory_of_dataset("00000000000000c3");
    dataset.per_process = true;
    return bench_->path(dataset.file_name(static_cast<std::uint64_t>(rank)));
  }
  void expect_nothing_left() {
    world().all().barrier();
    EXPECT_EQ(test::names_in(bench_->folder().path()), (std::vector<std::string>{".ullage-run", "manifest.ndjson"}));
    world().all().barrier();
  }

  test::KeptSignals kept_;
  std::unique_ptr<test::Bench> bench_;
  std::unique_ptr<Backend> backend_;
  bool has_path_ = true;  // of the target
  mpi::CommonClock clock_;
  AlignedBuffer buffer_;
  Meter meter_;
  Watchdog watchdog_;
  Status begun_;
  PhaseStatus status_ = PhaseStatus::ok;
};

}  // namespace ullage::overlap_test
