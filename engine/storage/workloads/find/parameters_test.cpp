// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/find/parameters.hpp"
#include "storage/backend.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ullage::find_parameters_test {
namespace {

const Value both = std::vector<std::string>{"timestamp", "find"};
const Value timestamp_only = std::vector<std::string>{"timestamp"};

Status check(const Values& given, const Capabilities& capabilities = {}) {
  const auto values = complete(specs_of(FindParameters::table()), given, "/p");
  return values ? check_find(FindParameters::from(*values), capabilities, "/p") : fail(values.error());
}

TEST(FindParameters, DefaultsFindEverything) {
  const auto values = complete(specs_of(FindParameters::table()), {}, "");
  ASSERT_TRUE(values.has_value());
  const auto parameters = FindParameters::from(*values);
  EXPECT_TRUE(parameters.finds());
  EXPECT_FALSE(parameters.makes_timestamp());
  EXPECT_TRUE(check({}).has_value());
}

TEST(FindParameters, WhatGnuFindTakesIsTaken) {
  EXPECT_TRUE(check({{"phases", both},
                     {"within", std::string("mdtest-easy_1")},
                     {"name", std::string("*01*")},
                     {"newer", true},
                     {"size", std::string("+3901c")}})
                  .has_value());
  EXPECT_TRUE(check({{"phases", timestamp_only}}).has_value());
}

TEST(FindParameters, RefusalsPointToTheParameter) {
  const std::vector<std::pair<Values, std::string>> cases{
      {{{"phases", std::vector<std::string>{"find", "timestamp"}}}, "/p/phases"},
      {{{"phases", std::vector<std::string>{"find", "find"}}}, "/p/phases"},
      {{{"phases", std::vector<std::string>{"timestamp", "find", "find"}}}, "/p/phases"},
      {{{"phases", timestamp_only}, {"name", std::string("x")}}, "/p/name"},
      {{{"phases", timestamp_only}, {"within", std::string("x")}}, "/p/within"},
      {{{"phases", timestamp_only}, {"size", std::string("1c")}}, "/p/size"},
      {{{"phases", timestamp_only}, {"newer", true}}, "/p/newer"},
      {{{"within", std::string("../x")}}, "/p/within"},
      {{{"within", std::string(65, 'x')}}, "/p/within"},
      {{{"name", std::string("a\0b", 3)}}, "/p/name"},
      {{{"size", std::string("3901q")}}, "/p/size"}};
  for (const auto& [given, pointer] : cases) {
    const auto status = check(given);
    ASSERT_FALSE(status.has_value()) << pointer;
    EXPECT_EQ(status.error().kind, ErrorKind::bad_plan);
    EXPECT_EQ(status.error().where, pointer) << to_line(status.error());
  }
}

TEST(FindParameters, BackendWithoutFilesIsRefused) {
  EXPECT_FALSE(check({}, {.path = false, .data = false}).has_value());
  EXPECT_FALSE(check({}, {.path = true, .data = false}).has_value());
}

}  // namespace
}  // namespace ullage::find_parameters_test
