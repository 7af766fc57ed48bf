// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/pio/parameters.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "storage/test_support.hpp"
#include "work/workload.hpp"

namespace ullage::pio_parameters_test {
namespace {

const WorkloadEntry& entry() { return *Registry<WorkloadEntry>::instance().find("pio"); }

std::string refusal(const Values& given, int on_ranks = 4, const Capabilities& capabilities = {.views = true}) {
  const auto values = complete(entry().description.parameters, given, "/p");
  if (!values) return test::line_of(values);
  const PlannedLayout layout{.ranks = on_ranks, .nodes = {}, .ranks_per_node = {}};
  return test::line_of(entry().check(*values, capabilities, layout, "/p"));
}

TEST(PioCheck, NothingIsIgnored) {
  EXPECT_EQ(refusal({}), "no error");
  const Value word = std::string("view");
  const auto of = [](const char* pattern) { return Value(std::string(pattern)); };
  const std::vector<std::pair<Values, std::string>> cases{
      {{{"levels", std::int64_t{3}}}, "/p/levels"},
      {{{"tiles_x", std::int64_t{2}}}, "/p/tiles_x"},
      {{{"variables", std::int64_t{2}}}, "/p/variables"},
      {{{"record_bytes", std::int64_t{8}}}, "/p/record_bytes"},
      {{{"sorted", false}}, "/p/sorted"},
      {{{"request_bytes", std::int64_t{12}}}, "/p/request_bytes"},
      {{{"base_bytes", std::int64_t{12}}}, "/p/base_bytes"},
      {{{"pattern", of("mesh")}, {"request_bytes", std::int64_t{40}}}, "/p/request_bytes"},
      {{{"pattern", of("flash")}, {"requests", std::int64_t{25}}}, "/p/requests"},
      {{{"pattern", of("nested-strided")}, {"requests", std::int64_t{5}}}, "/p/requests"},
      {{{"pattern", of("tiled")}, {"tiles_x", std::int64_t{3}}}, "/p/tiles_x"},
      {{{"collective", true}}, "/p/collective"},
      {{{"requests_a_call", std::int64_t{2}}}, "/p/requests_a_call"},
      {{{"through", word}, {"requests_a_call", std::int64_t{1} << 19}, {"request_bytes", std::int64_t{1} << 20}},
       "/p/requests_a_call"},
      {{{"through", word}, {"pattern", of("sequential-own")}, {"collective", true}}, "/p/collective"},
      {{{"through", word}, {"pattern", of("mesh")}, {"sorted", false}}, "/p/sorted"},
      {{{"phases", std::vector<std::string>{"read"}}}, "/p/phases/0"},
      {{{"phases", std::vector<std::string>{"write", "write"}}}, "/p/phases/1"},
      {{{"phases", std::vector<std::string>{"write", "rewrite"}}, {"pattern", of("sequential-shared")}}, "/p/phases/1"},
      {{{"request_bytes", std::int64_t{1} << 30},
        {"requests", std::int64_t{900000000}},
        {"pattern", of("segmented")},
        {"base_bytes", std::int64_t{0}}},
       "no error"},
  };
  for (const auto& [given, where] : cases) EXPECT_NE(refusal(given).find(where), std::string::npos) << refusal(given);
  EXPECT_NE(
      refusal({{"request_bytes", std::int64_t{1} << 30}, {"requests", std::int64_t{1000000000}}}, 100).find("4e18"),
      std::string::npos);
  EXPECT_NE(refusal({{"through", word}}, 4, {}).find("/p/through"), std::string::npos);
  EXPECT_NE(refusal({}, 4, {.data = false}).find("/p/verify"), std::string::npos);
}

TEST(PioNeeds, GapsAreCountedWhereALibraryMayFillThem) {
  const PlannedLayout layout{.ranks = 2, .nodes = {}, .ranks_per_node = {}};
  Values given{{"pattern", std::string("nested-strided")},
               {"request_bytes", std::int64_t{8}},
               {"requests", std::int64_t{8}},
               {"base_bytes", std::int64_t{8000}}};
  const auto needs = [&] { return entry().needs(*complete(entry().description.parameters, given, ""), layout); };
  EXPECT_EQ(needs().bytes, 2U * 8 * 8);
  given["through"] = std::string("view");
  EXPECT_EQ(needs().bytes, (9U + 8) * 8);
  EXPECT_EQ(needs().inodes, 1U);
}

}  // namespace
}  // namespace ullage::pio_parameters_test
