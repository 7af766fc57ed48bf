// SPDX-License-Identifier: Apache-2.0
// One repetition of workload `vpic` on a target of the tests. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "base/json.hpp"
#include "run/phase_runner.hpp"
#include "run/test_support.hpp"
#include "storage/backend.hpp"
#include "storage/manifest.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/vpic/parameters.hpp"
#include "work/workload.hpp"

namespace ullage::vpic_test {

class OneVpic : public ::testing::Test {
 protected:
  OneVpic() : meter_(StopFlags::instance().now()), watchdog_({}) {}

  [[nodiscard]] static const WorkloadEntry& entry() { return *Registry<WorkloadEntry>::instance().find("vpic"); }

  void use(const std::string& backend, const Values& given = {}) {
    backend_ = bench_.make(backend, given);
    format_ = backend_->arrays() != nullptr ? "arrays" : "raw";
  }

  /// Collective. All phases, with `between` on every rank before the second; the records, on every rank.
  Json run(Values given, const std::function<void()>& between = [] {}) {
    given.emplace("particles", std::int64_t{1500});
    given.emplace("steps", std::int64_t{3});
    given.emplace("format", format_);
    const auto values = complete(entry().description.parameters, given, "");
    EXPECT_TRUE(values.has_value()) << test::line_of(values);
    const auto workload = std::get<StorageWork>(entry().work).make(*values, context());
    status_ = PhaseStatus::ok;
    const auto begun = begin_together(*workload, world().all());
    EXPECT_TRUE(begun.everywhere) << test::line_of(begun.own);
    Json records = Json::array();
    const RunContext run_context{&world(), &clock_, &watchdog_, &meter_, {}, 0};
    for (std::size_t i = 0; i < workload->phases() && status_ == PhaseStatus::ok; ++i) {
      if (i == 1) between();
      world().all().barrier();
      const auto work = workload->phase(i);
      Json record;
      status_ = run_phase(run_context, &bench_.folder(), *work, record).status;
      records.push_back(record);
    }
    const auto ended = end_together(*workload, true, world().all()).own;
    EXPECT_TRUE(ended.has_value()) << test::line_of(ended);
    return Json::parse(world().all().broadcast(records.dump(), 0));
  }

  [[nodiscard]] StorageContext context() {
    StorageContext bound;
    bound.world = &world();
    bound.folder = has_path_ ? &bench_.folder() : nullptr;
    bound.backend = backend_.get();
    bound.buffer = &buffer_;
    bound.case_id = "00000000000000f2";
    bound.run_key = 42;
    bound.part = world().rank();
    bound.parts = world().size();
    bound.writes_manifest = world().root();
    return bound;
  }

  [[nodiscard]] const mpi::World& world() const { return bench_.world(); }
  [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(world().size()); }
  [[nodiscard]] std::string file() const { return bench_.path("c-00000000000000f2/data"); }

  test::Bench bench_;
  mpi::CommonClock clock_;
  Meter meter_;
  Watchdog watchdog_;
  AlignedBuffer buffer_;
  std::unique_ptr<Backend> backend_;
  std::string format_ = "raw";
  bool has_path_ = true;  // of the target
  PhaseStatus status_ = PhaseStatus::ok;
};

}  // namespace ullage::vpic_test
