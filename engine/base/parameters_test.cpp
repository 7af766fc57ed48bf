// SPDX-License-Identifier: Apache-2.0
#include "base/parameters.hpp"

#include <gtest/gtest.h>

namespace ullage::params_test {

enum class Colour { red, blue };

struct Sample {
  bool on = true;
  std::uint64_t size = 4096;
  int depth = 1;
  double wait = 0.5;
  std::string name = "x";
  Colour colour = Colour::blue;
  std::vector<Colour> colours{Colour::red};
  Map hints;
};

const Words<Colour> colours{{Colour::red, "red"}, {Colour::blue, "blue"}};

Table<Sample> table() {
  return {flag("on", &Sample::on, "d"),
          bytes("size", &Sample::size, {8, 1e6}, "d"),
          count("depth", &Sample::depth, {1, 64}, "d"),
          seconds("wait", &Sample::wait, {0, 10}, "d"),
          text("name", &Sample::name, "d"),
          choice("colour", &Sample::colour, colours, "d"),
          choices("colours", &Sample::colours, colours, "d"),
          map("hints", &Sample::hints, "d")};
}

Error error_of(const Values& given) {
  const auto values = complete(specs_of(table()), given, "/p");
  EXPECT_FALSE(values.has_value());
  return values ? Error{} : values.error();
}

TEST(Params, DefaultsComeFromTheStruct) {
  const auto values = complete(specs_of(table()), {}, "/p");
  ASSERT_TRUE(values.has_value());
  const Sample sample = bind_parameters(table(), *values);
  EXPECT_EQ(sample.size, 4096U);
  EXPECT_EQ(sample.colour, Colour::blue);
  EXPECT_EQ(sample.colours, std::vector<Colour>{Colour::red});
}

TEST(Params, AListOfWordsMayBeEmptyWhereNoneIsTheDefault) {
  struct Skipping {
    std::vector<Colour> skipped;
  };
  const auto specs = specs_of(Table<Skipping>{choices("skipped", &Skipping::skipped, colours, "d")});
  EXPECT_TRUE(complete(specs, {}, "/p").has_value());
  EXPECT_TRUE(complete(specs, {{"skipped", std::vector<std::string>{}}}, "/p").has_value());
  EXPECT_FALSE(complete(specs, {{"skipped", std::vector<std::string>{"green"}}}, "/p").has_value());
  EXPECT_EQ(error_of({{"colours", std::vector<std::string>{}}}).where, "/p/colours");
}

TEST(Params, GivenValuesAreBound) {
  const auto values = complete(specs_of(table()),
                               {{"on", false},
                                {"size", 64},
                                {"wait", 2},
                                {"colours", std::vector<std::string>{"blue", "red"}},
                                {"hints", Map{{"a", "1"}}}},
                               "/p");
  ASSERT_TRUE(values.has_value());
  const Sample sample = bind_parameters(table(), *values);
  EXPECT_FALSE(sample.on);
  EXPECT_EQ(sample.size, 64U);
  EXPECT_DOUBLE_EQ(sample.wait, 2.0) << "an integer is a number of seconds too";
  EXPECT_EQ(sample.colours, (std::vector<Colour>{Colour::blue, Colour::red}));
  EXPECT_EQ(sample.hints.at("a"), "1");
}

TEST(Params, UnknownNameSuggestsTheNearest) {
  const Error error = error_of({{"dept", 3}});
  EXPECT_EQ(error.where, "/p/dept");
  EXPECT_NE(error.text.find("'depth'"), std::string::npos);
}

TEST(Params, BadValuesNameTheirPointerAndWhatWouldBeRight) {
  EXPECT_EQ(error_of({{"on", 1}}).text, "must be true or false");
  EXPECT_EQ(error_of({{"size", 1.5}}).text, "must be an integer number of bytes");
  EXPECT_EQ(error_of({{"size", 7}}).text, "is 7, must be from 8 to 1000000");
  EXPECT_EQ(error_of({{"colour", std::string("green")}}).text, "is 'green', must be one of red, blue");
  EXPECT_EQ(error_of({{"colours", std::vector<std::string>{"red", "green"}}}).where, "/p/colours/1");
  EXPECT_EQ(error_of({{"colours", std::vector<std::string>{}}}).where, "/p/colours");
}

}  // namespace ullage::params_test
