// SPDX-License-Identifier: Apache-2.0
// One repetition of workload `loader` on a target of the tests. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "base/json.hpp"
#include "run/phase_runner.hpp"
#include "run/test_support.hpp"
#include "storage/backend.hpp"
#include "storage/dataset_book.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/loader/parameters.hpp"
#include "work/workload.hpp"

namespace ullage::loader_test {

inline const WorkloadEntry& entry() { return *Registry<WorkloadEntry>::instance().find("loader"); }
inline Value words(const char* word) { return std::string(word); }
inline Value number(std::int64_t count) { return count; }

/// 100 samples of about 5000 bytes, at no pace.
inline Values values_of(Values given) {
  given.emplace("samples", number(100));
  given.emplace("sample_bytes", number(5000));
  given.emplace("deviation_bytes", number(1000));
  given.emplace("step_s", 0.0);
  given.emplace("threads", number(2));
  given.emplace("transfer_bytes", number(4096));
  const auto values = complete(entry().description.parameters, given, "");
  EXPECT_TRUE(values.has_value()) << test::line_of(values);
  return values.value_or(Values{});
}

class OneRepetition : public ::testing::Test {
 protected:
  OneRepetition() : meter_(StopFlags::instance().now()), watchdog_({}) { use("posix"); }

  void use(const std::string& backend, const Values& given = {}) { backend_ = bench_.make(backend, given); }

  [[nodiscard]] StorageContext bound() {
    StorageContext bound;
    bound.world = &world();
    bound.folder = has_path_ ? &bench_.folder() : nullptr;
    bound.backend = backend_.get();
    bound.buffer = &buffer_;
    bound.case_id = id();
    bound.run_key = 42;
    bound.dataset = dataset_;
    bound.datasets = &book_;
    bound.part = world().rank();
    bound.parts = world().size();
    bound.writes_manifest = world().root();
    bound.target = "t";
    return bound;
  }

  /// Collective. begin, all phases with `before(i)` on rank 0 before phase i, end, whatever fails; the records of the
  /// phases that were run, on every rank.
  Json run(const Values& given, const std::function<void(std::size_t)>& before = [](std::size_t) {}) {
    const auto workload = std::get<StorageWork>(entry().work).make(values_of(given), bound());
    status_ = PhaseStatus::ok;
    begun_ = begin_together(*workload, world().all()).own;
    Json records = Json::array();
    const RunContext context{&world(), &clock_, &watchdog_, &meter_, {}, 0};
    for (std::size_t i = 0; begun_ && i < workload->phases() && status_ == PhaseStatus::ok; ++i) {
      if (world().root()) before(i);
      world().all().barrier();
      const auto work = workload->phase(i);
      Json record;
      status_ = run_phase(context, &bench_.folder(), *work, record).status;
      records.push_back(record);
    }
    const bool whole = begun_ && status_ == PhaseStatus::ok;
    ended_ = end_together(*workload, whole, world().all()).own;
    EXPECT_TRUE(ended_.has_value()) << test::line_of(ended_);
    return Json::parse(world().all().broadcast(records.dump(), 0));
  }

  [[nodiscard]] const mpi::World& world() const { return bench_.world(); }
  [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(world().size()); }
  [[nodiscard]] static std::string id() { return "00000000000000b1"; }
  [[nodiscard]] std::string file_path(const std::string& name) const {
    return bench_.path((dataset_.empty() ? "c-" + id() : dataset_) + "/" + name);
  }
  void expect_nothing_left() {
    world().all().barrier();
    EXPECT_EQ(test::names_in(bench_.folder().path()), (std::vector<std::string>{".ullage-run", "manifest.ndjson"}));
    world().all().barrier();
  }

  test::KeptSignals kept_;
  test::Bench bench_;
  std::unique_ptr<Backend> backend_;
  bool has_path_ = true;  // of the target
  std::string dataset_;
  DatasetBook book_;
  mpi::CommonClock clock_;
  AlignedBuffer buffer_;
  Meter meter_;
  Watchdog watchdog_;
  PhaseStatus status_ = PhaseStatus::ok;
  Status begun_;
  Status ended_;
};

}  // namespace ullage::loader_test
