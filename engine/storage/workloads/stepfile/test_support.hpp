// SPDX-License-Identifier: Apache-2.0
// One repetition of workload `stepfile` on a target of the tests. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include "storage/workloads/stepfile/stepfile.hpp"
#include "storage/workloads/test_support.hpp"

namespace ullage::stepfile_test {

inline const WorkloadEntry& entry() { return *Registry<WorkloadEntry>::instance().find("stepfile"); }

inline Values values_of(Values given) {
  given.emplace("steps", 12);
  given.emplace("state_bytes", 4096);
  const auto values = complete(entry().description.parameters, given, "");
  EXPECT_TRUE(values.has_value()) << test::line_of(values);
  return values.value_or(Values{});
}

inline StepfileParameters parameters_of(const Values& given) {
  return bind_parameters<StepfileParameters>(values_of(given));
}

class OneRepetition : public test::StorageWorkloadTest {
 protected:
  OneRepetition() : StorageWorkloadTest("00000000000000a1") { use("posix"); }

  [[nodiscard]] std::unique_ptr<Workload> make(const Values& given) {
    StorageContext bound = context();
    bound.target = "first";
    bound.room_bytes = room_bytes_;
    if (further_) {
      bound.spill.push_back(context_on(*further_, *further_backend_));
      bound.spill.back().target = "second";
      bound.spill.back().room_bytes = further_room_bytes_;
    }
    return std::get<StorageWork>(entry().work).make(values_of(given), bound);
  }

  /// A further target behind the first, each with room for so many states of a rank.
  void spill_to_second(std::uint64_t first_states, std::uint64_t second_states) {
    further_ = std::make_unique<test::Bench>();
    further_backend_ = further_->make("posix");
    room_bytes_ = 4096 * first_states;
    further_room_bytes_ = 4096 * second_states;
  }

  /// Collective. Runs both phases, with `between` on every rank before the second.
  Json run(const Values& given, const std::function<void()>& between = [] {}) {
    Json records = run_phases(*make(given), test::before_second(between));
    EXPECT_TRUE(begun_.has_value()) << test::line_of(begun_);
    return records;
  }

  /// The file of a state of any rank.
  [[nodiscard]] std::string state_path(const Values& given, std::uint64_t rank, std::uint64_t step) const {
    return in_dataset(test::path_of(parameters_of(given).shape(ranks()), rank, step));
  }
  void expect_nothing_left() const {
    StorageWorkloadTest::expect_nothing_left();
    if (further_) expect_nothing_left_in(*further_);
  }

  std::unique_ptr<test::Bench> further_;
  std::unique_ptr<Backend> further_backend_;
  std::uint64_t room_bytes_ = 0;
  std::uint64_t further_room_bytes_ = 0;
};

inline Value words(const char* word) { return std::string(word); }
inline Value number(std::int64_t count) { return count; }

}  // namespace ullage::stepfile_test
