// SPDX-License-Identifier: Apache-2.0
#include "storage/text_values.hpp"

#include <gtest/gtest.h>

namespace ullage::text_values_test {

ParameterSpec spec(const std::string& name, ParameterType type) { return {name, type, "", {}, {}, {}, {}, ""}; }

const std::vector<ParameterSpec>& specs() {
  static const std::vector<ParameterSpec> all{
      spec("flag", ParameterType::flag),     spec("count", ParameterType::count),
      spec("bytes", ParameterType::bytes),   spec("seconds", ParameterType::seconds),
      spec("choice", ParameterType::choice), spec("choices", ParameterType::choices),
      spec("map", ParameterType::map)};
  return all;
}

TEST(TextValues, EachTypeFromItsText) {
  const auto values = values_from_text(specs(),
                                       {{"flag", "true"},
                                        {"count", "-3"},
                                        {"bytes", "4096"},
                                        {"seconds", "2.5e-3"},
                                        {"choice", "a b"},
                                        {"choices", "x,y"},
                                        {"map", "a=1,b=c=d"}},
                                       "/p");
  ASSERT_TRUE(values);
  EXPECT_EQ(values->at("flag"), Value(true));
  EXPECT_EQ(values->at("count"), Value(std::int64_t{-3}));
  EXPECT_EQ(values->at("bytes"), Value(std::int64_t{4096}));
  EXPECT_EQ(values->at("seconds"), Value(2.5e-3));
  EXPECT_EQ(values->at("choice"), Value(std::string("a b")));
  EXPECT_EQ(values->at("choices"), Value(std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(values->at("map"), Value(Map{{"a", "1"}, {"b", "c=d"}}));
}

TEST(TextValues, WrongTextNamesWhereAndWhat) {
  const Map wrong{{"flag", "yes"}, {"count", "1.5"}, {"bytes", "4k"}, {"seconds", ""}, {"map", "=x"}};
  for (const auto& [name, text] : wrong) {
    const auto values = values_from_text(specs(), {{name, text}}, "/p");
    ASSERT_FALSE(values) << name;
    EXPECT_EQ(values.error().kind, ErrorKind::bad_plan);
    EXPECT_EQ(values.error().where, "/p/" + name);
    EXPECT_EQ(values.error().text, "is '" + text + "', must be a " + name);
  }
}

TEST(TextValues, UnknownNamesAreLeftToTheCheckThatKnowsThemAll) {
  const auto values = values_from_text(specs(), {{"cuont", "1"}}, "/p");
  ASSERT_TRUE(values);
  EXPECT_FALSE(complete(specs(), *values, "/p"));
}

}  // namespace ullage::text_values_test
