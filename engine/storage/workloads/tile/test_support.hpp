// SPDX-License-Identifier: Apache-2.0
// One repetition of workload `tile` on a target of the tests. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include "storage/workloads/test_support.hpp"
#include "storage/workloads/tile/tile.hpp"

namespace ullage::tile_test {

inline const WorkloadEntry& entry() { return *Registry<WorkloadEntry>::instance().find("tile"); }

inline Values values_of(const Values& given) {
  const auto values = complete(entry().description.parameters, given, "");
  EXPECT_TRUE(values.has_value()) << test::line_of(values);
  return values.value_or(Values{});
}

inline TileParameters parameters_of(const Values& given) { return bind_parameters<TileParameters>(values_of(given)); }

inline Value number(std::int64_t count) { return count; }
inline Value words(const char* word) { return std::string(word); }

class OneRepetition : public test::StorageWorkloadTest {
 protected:
  OneRepetition() : StorageWorkloadTest("00000000000000b2") { use("mpiio"); }

  /// Collective. Runs both phases, with `between` on every rank before the second.
  Json run(const Values& given, const std::function<void()>& between = [] {}) {
    const auto workload = std::get<StorageWork>(entry().work).make(values_of(given), context());
    Json records = run_phases(*workload, test::before_second(between));
    EXPECT_TRUE(begun_.has_value()) << test::line_of(begun_);
    return records;
  }

  /// Gives as many tiles as ranks, or one fewer, in two rows where they are even.
  [[nodiscard]] Values tiles_for(int ranks) const {
    const std::int64_t rows = ranks % 2 == 0 ? 2 : 1;
    return {{"tiles_x", number(ranks / rows)}, {"tiles_y", number(rows)},
            {"tile_x", number(100)},           {"tile_y", number(60)},
            {"overlap_x", number(7)},          {"overlap_y", number(5)},
            {"element_bytes", number(3)}};
  }
  [[nodiscard]] std::string file() const { return in_dataset("data"); }
};

}  // namespace ullage::tile_test
