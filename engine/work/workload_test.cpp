// SPDX-License-Identifier: Apache-2.0
#include "work/workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ullage::workload_test {
namespace {

TEST(WorkloadRegistry, ListsEachWorkloadOnceAndInOrder) {
  const auto& all = Registry<WorkloadEntry>::instance().all();
  const auto name = [](const WorkloadEntry& entry) -> const std::string& { return entry.description.name; };
  EXPECT_GT(all.size(), 1U);
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, name));
  EXPECT_EQ(std::ranges::adjacent_find(all, {}, name), all.end());
}

TEST(WorkloadContext, NamesItsOwnDatasetByTheCase) {
  WorkloadContext context;
  context.case_id = "0123456789abcdef";
  EXPECT_EQ(context.dataset_name(), context.case_id);
  EXPECT_FALSE(context.stays());
  context.dataset = "shared";
  EXPECT_EQ(context.dataset_name(), "shared");
  EXPECT_TRUE(context.stays());
}

}  // namespace
}  // namespace ullage::workload_test
