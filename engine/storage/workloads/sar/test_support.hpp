// SPDX-License-Identifier: Apache-2.0
// One repetition of workload `sar` on a target of the tests. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "run/phase_runner.hpp"
#include "run/test_support.hpp"
#include "storage/workloads/sar/state.hpp"
#include "work/workload.hpp"

namespace ullage::sar_test {

inline const WorkloadEntry& entry() { return *Registry<WorkloadEntry>::instance().find("sar"); }

inline Value number(std::int64_t count) { return count; }
inline Value words(const char* word) { return std::string(word); }

/// Small sizes, none of which is a multiple of another's.
inline Values values_of(Values given) {
  const Values small{{"grid", number(3)},          {"depth", number(3)},     {"rows", number(50)},
                     {"columns", number(37)},      {"subimages", number(2)}, {"raw_columns", number(41)},
                     {"subimage_side", number(9)}, {"templates", number(5)}, {"template_bytes", number(1000)}};
  given.insert(small.begin(), small.end());
  const auto values = complete(entry().description.parameters, given, "");
  EXPECT_TRUE(values.has_value()) << test::line_of(values);
  return values.value_or(Values{});
}

inline SarParameters parameters_of(const Values& given) { return SarParameters::from(values_of(given)); }

inline void flip_byte(const std::string& path, std::uint64_t at) {
  std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(at));
  const char wrong = static_cast<char>(stream.get() ^ 16);
  stream.seekp(static_cast<std::streamoff>(at));
  stream.put(wrong);
}

enum Phase : std::size_t { sdg, k1, k2, k3, k4 };

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
    bound.part = world().rank();
    bound.parts = world().size();
    bound.writes_manifest = world().root();
    return bound;
  }

  /// Collective. begin, all phases with `before` of each on every rank, end, whatever fails; the records of the phases
  /// that were run, on every rank.
  Json run(const Values& given, const std::function<void(std::size_t)>& before = [](std::size_t) {}) {
    const auto workload = std::get<StorageWork>(entry().work).make(values_of(given), bound());
    workload->find_peers();
    const auto begun = begin_together(*workload, world().all());
    begun_ = begun.own;
    status_ = begun.everywhere ? PhaseStatus::ok : PhaseStatus::failed;
    Json records = Json::array();
    const RunContext context{&world(), &clock_, &watchdog_, &meter_, {}, 0};
    for (std::size_t i = 0; i < workload->phases() && status_ == PhaseStatus::ok; ++i) {
      before(i);
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

  [[nodiscard]] const mpi::World& world() const { return bench_.world(); }
  [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(world().size()); }
  [[nodiscard]] static std::string id() { return "00000000000000c3"; }
  [[nodiscard]] std::string in_dataset(const std::string& path) const { return bench_.path("c-" + id() + "/" + path); }
  void expect_nothing_left() {
    world().all().barrier();
    EXPECT_EQ(test::names_in(bench_.folder().path()), (std::vector<std::string>{".ullage-run", "manifest.ndjson"}));
    world().all().barrier();
  }
  /// The repetition failed in that phase by data that is not what was written to this file.
  void expect_wrong_data(const Json& records, Phase phase, const std::string& path, std::uint64_t at) {
    EXPECT_EQ(status_, PhaseStatus::failed);
    ASSERT_EQ(records.size(), phase + 1U) << records.dump(1);
    EXPECT_GE(records[phase]["bad_blocks"], 1);
    EXPECT_EQ(records[phase]["failures"][0]["path"], in_dataset(path));
    EXPECT_EQ(records[phase]["failures"][0]["offset_bytes"], at);
    expect_nothing_left();
  }

  test::KeptSignals kept_;
  test::Bench bench_;
  std::unique_ptr<Backend> backend_;
  bool has_path_ = true;  // of the target
  mpi::CommonClock clock_;
  AlignedBuffer buffer_;
  Meter meter_;
  Watchdog watchdog_;
  PhaseStatus status_ = PhaseStatus::ok;
  Status begun_;
};

}  // namespace ullage::sar_test
