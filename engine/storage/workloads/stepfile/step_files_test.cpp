// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/step_files.hpp"

#include <optional>

#include "storage/workloads/stepfile/test_support.hpp"

namespace ullage::stepfile_test {
namespace {

class StepFilesOfARank : public ::testing::Test {
 protected:
  void use(const Values& given) {
    parameters_ = parameters_of(given);
    context_.world = &bench_.world();
    context_.folder = &bench_.folder();
    context_.backend = backend_.get();
    state_ = {&parameters_, &context_, backend_->capabilities(), {.dataset = "d", .directory = "d"}};
    state_.dataset.steps = parameters_.shape(1);
    tiers_.emplace(context_, parameters_.kept(), parameters_.state_bytes);
    state_.tiers = &*tiers_;
    ASSERT_TRUE(backend_->make_directory("d").has_value());
  }
  [[nodiscard]] std::vector<std::byte> data_of(int step) const {
    return std::vector<std::byte>(parameters_.state_bytes, static_cast<std::byte>(step + 1));
  }
  void write(StepFiles& files, std::uint64_t place, int step, bool again = false) {
    auto data = data_of(step);
    const auto times = files.write({place, data, again, true}, clock_);
    ASSERT_TRUE(times.has_value()) << test::line_of(times);
    EXPECT_GT(times->transfer_ns, 0);
    EXPECT_GT(times->sync_ns, 0);
  }
  void expect(StepFiles& files, std::uint64_t place, int step, bool removes = false) {
    std::vector<std::byte> found(parameters_.state_bytes);
    const auto times = files.read(place, found, removes, clock_);
    ASSERT_TRUE(times.has_value()) << test::line_of(times);
    EXPECT_EQ(found, data_of(step));
  }

  test::Bench bench_;
  std::unique_ptr<Backend> backend_ = bench_.make("posix");
  StepfileParameters parameters_;
  StorageContext context_;
  StepfileState state_;
  std::optional<StepTiers> tiers_;
  HelperClock clock_;
};

TEST_F(StepFilesOfARank, AFileIsMadeReadAndRemoved) {
  use({{"layout", words("flat")}});
  StepFiles files(state_);
  write(files, 3, 3);
  EXPECT_EQ(test::names_in(bench_.path("d")), std::vector<std::string>{"s.0.3"});
  expect(files, 3, 3);
  write(files, 3, 9, true);
  expect(files, 3, 9, true);
  EXPECT_TRUE(test::names_in(bench_.path("d")).empty());
}

TEST_F(StepFilesOfARank, ALogKeepsStatesInTheOrderOfTheirWritingAndFindsThemByStep) {
  use({{"layout", words("log")}, {"steps", number(3)}});
  StepFiles files(state_);
  ASSERT_TRUE(files.open_log(OpenMode::create).has_value());
  for (const int step : {2, 0, 1}) write(files, static_cast<std::uint64_t>(step), step);
  ASSERT_TRUE(files.write_index().has_value());
  ASSERT_TRUE(files.close_log().has_value());
  EXPECT_EQ(std::filesystem::file_size(bench_.path("d/log.0")), 3 * 4096 + LogIndex::bytes(3, 1));
  StepFiles reading(state_);
  ASSERT_TRUE(reading.open_log(OpenMode::read).has_value());
  for (const int step : {0, 1, 2}) expect(reading, static_cast<std::uint64_t>(step), step);
  ASSERT_TRUE(reading.close_log().has_value());
}

TEST_F(StepFilesOfARank, AStateThatWasNeverWrittenIsAnError) {
  use({{"layout", words("log")}, {"steps", number(3)}});
  StepFiles files(state_);
  ASSERT_TRUE(files.open_log(OpenMode::create).has_value());
  write(files, 0, 0);
  ASSERT_TRUE(files.write_index().has_value());
  ASSERT_TRUE(files.close_log().has_value());
  StepFiles reading(state_);
  ASSERT_FALSE(reading.open_log(OpenMode::create).has_value()) << "a log is made once";
}

}  // namespace
}  // namespace ullage::stepfile_test
