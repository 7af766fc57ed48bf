// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace ullage::json_test {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

template <class T>
T value_of(const std::string& text) {
  const auto value = value_from(Json::parse(text), "/v");
  EXPECT_TRUE(value.has_value()) << to_line(value.error());
  EXPECT_TRUE(std::holds_alternative<T>(*value)) << text;
  return std::get<T>(*value);
}

Error refusal_of(const std::string& text) {
  const auto value = value_from(Json::parse(text), "/v");
  EXPECT_FALSE(value.has_value()) << text;
  if (value) return {};
  EXPECT_EQ(value.error().kind, ErrorKind::bad_plan);
  return value.error();
}

TEST(JsonText, IsOneLineUnlessItIsIndented) {
  EXPECT_EQ(json_text({{"a", {1, 2.5}}, {"b", nullptr}}), R"({"a":[1,2.5],"b":null})");
  EXPECT_EQ(json_text({{"a", 1}}, 1), "{\n \"a\": 1\n}");
}

TEST(JsonText, ReplacesWhatIsNotUtf8) { EXPECT_EQ(json_text("a\xff z"), "\"a\xef\xbf\xbd z\""); }

TEST(ParseJson, SaysDiscardedOfWhatIsNone) {
  EXPECT_EQ(parse_json(R"({"a": [1]})"), Json({{"a", {1}}}));
  for (const char* text : {"", "{", "{} x", "nan"}) EXPECT_TRUE(parse_json(text).is_discarded()) << text;
}

TEST(JsonValues, EachJsonTypeHasItsValue) {
  EXPECT_EQ(value_of<bool>("true"), true);
  EXPECT_EQ(value_of<std::int64_t>("-3"), -3);
  EXPECT_EQ(value_of<std::int64_t>("9223372036854775807"), largest);
  EXPECT_EQ(value_of<double>("3.0"), 3.0);
  EXPECT_EQ(value_of<std::string>("\"4K\""), "4K");
  EXPECT_EQ(value_of<std::vector<std::string>>(R"(["a","b"])"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(value_of<Map>(R"({"s":"x","n":8,"b":true})"), (Map{{"s", "x"}, {"n", "8"}, {"b", "true"}}));
}

TEST(JsonValues, WhatHasNoValueIsRefusedWhereItStands) {
  EXPECT_EQ(refusal_of("null").where, "/v");
  EXPECT_EQ(refusal_of("9223372036854775808").where, "/v");
  EXPECT_EQ(refusal_of(R"(["a", 1])").where, "/v/1");
  EXPECT_EQ(refusal_of(R"({"a": "x", "deep": {"b": 1}})").where, "/v/deep");
  EXPECT_EQ(refusal_of(R"({"list": []})").where, "/v/list");
}

TEST(JsonValues, SetOfValuesIsAnObject) {
  const auto values = values_from(Json::parse(R"({"a": 1, "b": "x"})"), "/p");
  ASSERT_TRUE(values.has_value());
  EXPECT_EQ(to_json(*values), Json::parse(R"({"a": 1, "b": "x"})"));
  EXPECT_EQ(to_json(Values{}), Json::object()) << "nothing is an empty object, not null";
  EXPECT_EQ(values_from(Json::parse("[]"), "/p").error().where, "/p");
  EXPECT_EQ(values_from(Json::parse(R"({"a": null})"), "/p").error().where, "/p/a");
}

RC_GTEST_PROP(JsonValues, IntegersAndTextSurviveTheWayThereAndBack, (std::int64_t number)) {
  const auto words = *rc::gen::container<std::vector<std::string>>(rc::gen::string<std::string>());
  for (const Value& value : {Value{number}, Value{std::to_string(number)}}) {
    const auto back = value_from(Json::parse(to_json(value).dump()), "/v");
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == value);
  }
  const auto list = value_from(to_json(Value{words}), "/v");
  RC_ASSERT(list.has_value());
  RC_ASSERT(*list == Value{words});
}

/// Reads all members that `read` asks for; the pointer of the mistake, or "" when there is none.
template <class Read>
std::string mistake_in(const std::string& text, Read read) {
  const Json json = Json::parse(text);
  ObjectReader reader(json, "/o");
  read(reader);
  const auto status = reader.finish();
  if (status) return "";
  EXPECT_EQ(status.error().kind, ErrorKind::bad_plan);
  EXPECT_FALSE(status.error().text.empty());
  return status.error().where;
}

TEST(ObjectReader, GoodMembersAreRead) {
  const Json json = Json::parse(
      R"({"text": "t", "count": 3, "share": 0.5, "whole": 2, "on": true, "list": [1], "inner": {}, "nothing": null})");
  ObjectReader reader(json, "/o");
  EXPECT_EQ(reader.text("text"), "t");
  EXPECT_EQ(reader.integer("count", 1, 3), 3);
  EXPECT_EQ(reader.number("share", 0, 1, 0.25), 0.5);
  EXPECT_EQ(reader.number("whole", 0, 3, 0.25), 2.0) << "an integer is a number";
  EXPECT_TRUE(reader.flag("on", false));
  ASSERT_NE(reader.array("list"), nullptr);
  EXPECT_EQ(reader.array("list")->size(), 1U);
  EXPECT_NE(reader.member("inner"), nullptr);
  EXPECT_FALSE(reader.optional_integer("nothing", 0, 1).has_value()) << "null is absence";
  EXPECT_TRUE(reader.finish().has_value());
}

TEST(ObjectReader, AbsentMembersGiveTheirFallback) {
  const Json json = Json::object();
  ObjectReader reader(json, "/o");
  EXPECT_EQ(reader.text("text", "none"), "none");
  EXPECT_EQ(reader.integer("count", 1, 9, 4), 4);
  EXPECT_EQ(reader.number("share", 0, 1, 0.25), 0.25);
  EXPECT_FALSE(reader.optional_number("budget", 0, 1).has_value());
  EXPECT_TRUE(reader.flag("on", true));
  EXPECT_EQ(reader.member("inner"), nullptr);
  EXPECT_TRUE(reader.finish().has_value());
}

TEST(ObjectReader, EachMistakeIsNamedByItsPointer) {
  EXPECT_EQ(mistake_in("{}", [](auto& r) { (void)r.text("a"); }), "/o/a");
  EXPECT_EQ(mistake_in("{}", [](auto& r) { (void)r.integer("a", 0, 1); }), "/o/a");
  EXPECT_EQ(mistake_in("{}", [](auto& r) { (void)r.array("a"); }), "/o/a");
  EXPECT_EQ(mistake_in(R"({"a": 1})", [](auto& r) { (void)r.text("a"); }), "/o/a");
  EXPECT_EQ(mistake_in(R"({"a": 1})", [](auto& r) { (void)r.text("a", "x"); }), "/o/a");
  EXPECT_EQ(mistake_in(R"({"a": 1.0})", [](auto& r) { (void)r.integer("a", 0, 9); }), "/o/a");
  EXPECT_EQ(mistake_in(R"({"a": -1})", [](auto& r) { (void)r.integer("a", 0, 9); }), "/o/a");
  EXPECT_EQ(mistake_in(R"({"a": 10})", [](auto& r) { (void)r.integer("a", 0, 9, 1); }), "/o/a");
  EXPECT_EQ(mistake_in(R"({"a": "1"})", [](auto& r) { (void)r.number("a", 0, 9, 1); }), "/o/a");
  EXPECT_EQ(mistake_in(R"({"a": 9.5})", [](auto& r) { (void)r.number("a", 0, 9, 1); }), "/o/a");
  EXPECT_EQ(mistake_in(R"({"a": 1})", [](auto& r) { (void)r.flag("a", true); }), "/o/a");
  EXPECT_EQ(mistake_in(R"({"a": null})", [](auto& r) { (void)r.flag("a", true); }), "/o/a");
  EXPECT_EQ(mistake_in(R"({"a": {}})", [](auto& r) { (void)r.array("a"); }), "/o/a");
  EXPECT_EQ(mistake_in("[]", [](auto& r) { (void)r.flag("a", true); }), "/o");
}

TEST(ObjectReader, NumberBeyond63BitsIsNoSmallNumber) {
  const auto read = [](auto& r) { (void)r.integer("a", std::numeric_limits<std::int64_t>::min(), largest); };
  EXPECT_EQ(mistake_in(R"({"a": 9223372036854775807})", read), "");
  EXPECT_EQ(mistake_in(R"({"a": 18446744073709551615})", read), "/o/a");
}

TEST(ObjectReader, UnknownKeyIsRefusedUnlessAnEarlierMistakeIsKnown) {
  EXPECT_EQ(mistake_in(R"({"b": 1})", [](auto& r) { (void)r.flag("a", true); }), "/o/b");
  EXPECT_EQ(mistake_in(R"({"a": 1, "b": 1})", [](auto& r) { (void)r.flag("a", true); }), "/o/a");
  EXPECT_EQ(mistake_in(R"({"a": 1, "c": 1})",
                       [](auto& r) {
                         (void)r.flag("a", true);
                         (void)r.text("c");
                       }),
            "/o/a")
      << "the first mistake is the one that is told";
}

TEST(ObjectReader, DocumentThatIsNoObjectPointsAtTheTop) {
  const Json json = Json::array();
  ObjectReader reader(json, "");
  EXPECT_EQ(reader.finish().error().where, "/");
}

}  // namespace ullage::json_test
