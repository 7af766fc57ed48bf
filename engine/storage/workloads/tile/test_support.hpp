// SPDX-License-Identifier: Apache-2.0
// One repetition of workload `tile` on a target of the tests. Included by tests only.
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
#include "storage/workloads/tile/parameters.hpp"
#include "work/workload.hpp"

namespace ullage::tile_test {

inline const WorkloadEntry& entry() { return *Registry<WorkloadEntry>::instance().find("tile"); }

inline Values values_of(const Values& given) {
  const auto values = complete(entry().description.parameters, given, "");
  EXPECT_TRUE(values.has_value()) << test::line_of(values);
  return values.value_or(Values{});
}

inline TileParameters parameters_of(const Values& given) { return TileParameters::from(values_of(given)); }

inline Value number(std::int64_t count) { return count; }
inline Value words(const char* word) { return std::string(word); }

class OneRepetition : public ::testing::Test {
 protected:
  OneRepetition() : meter_(StopFlags::instance().now()), watchdog_({}) { use("mpiio"); }

  void use(const std::string& backend, const Values& given = {}) { backend_ = bench_.make(backend, given); }

  /// Collective. begin, both phases with `between` on every rank before the second, end, whatever fails; the records of
  /// the phases that were run, on every rank.
  Json run(const Values& given, const std::function<void()>& between = [] {}) {
    StorageContext bound;
    bound.world = &world();
    bound.folder = &bench_.folder();
    bound.backend = backend_.get();
    bound.buffer = &buffer_;
    bound.case_id = "00000000000000b2";
    bound.run_key = 42;
    bound.part = world().rank();
    bound.parts = world().size();
    bound.writes_manifest = world().root();
    const auto workload = std::get<StorageWork>(entry().work).make(values_of(given), bound);
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
    const Status ended = end_together(*workload, true, world().all()).own;
    EXPECT_TRUE(ended.has_value()) << test::line_of(ended);
    return Json::parse(world().all().broadcast(records.dump(), 0));
  }

  /// As many tiles as ranks, or one fewer, in two rows where they are even.
  [[nodiscard]] Values tiles_for(int ranks) const {
    const std::int64_t rows = ranks % 2 == 0 ? 2 : 1;
    return {{"tiles_x", number(ranks / rows)}, {"tiles_y", number(rows)},
            {"tile_x", number(100)},           {"tile_y", number(60)},
            {"overlap_x", number(7)},          {"overlap_y", number(5)},
            {"element_bytes", number(3)}};
  }
  [[nodiscard]] const mpi::World& world() const { return bench_.world(); }
  [[nodiscard]] std::string file() const { return bench_.path("c-00000000000000b2/data"); }
  void expect_nothing_left() {
    world().all().barrier();
    EXPECT_EQ(test::names_in(bench_.folder().path()), (std::vector<std::string>{".ullage-run", "manifest.ndjson"}));
    world().all().barrier();
  }

  test::KeptSignals kept_;
  test::Bench bench_;
  std::unique_ptr<Backend> backend_;
  mpi::CommonClock clock_;
  AlignedBuffer buffer_;
  Meter meter_;
  Watchdog watchdog_;
  PhaseStatus status_ = PhaseStatus::ok;
};

}  // namespace ullage::tile_test
