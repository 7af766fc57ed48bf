// SPDX-License-Identifier: Apache-2.0
// One repetition of workload `sar` on a target of the tests. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include "storage/workloads/sar/phase.hpp"
#include "storage/workloads/test_support.hpp"

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

inline SarParameters parameters_of(const Values& given) { return bind_parameters<SarParameters>(values_of(given)); }

inline void flip_byte(const std::string& path, std::uint64_t at) {
  std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(at));
  const char wrong = static_cast<char>(stream.get() ^ 16);
  stream.seekp(static_cast<std::streamoff>(at));
  stream.put(wrong);
}

enum Phase : std::size_t { sdg, k1, k2, k3, k4 };

class OneRepetition : public test::StorageWorkloadTest {
 protected:
  OneRepetition() : StorageWorkloadTest("00000000000000c3") { use("posix"); }

  /// Collective. Runs all phases, with `before` of each on every rank.
  Json run(const Values& given, const test::BeforePhase& before = [](std::size_t) {}) {
    return run_phases(*std::get<StorageWork>(entry().work).make(values_of(given), context()), before);
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
};

}  // namespace ullage::sar_test
