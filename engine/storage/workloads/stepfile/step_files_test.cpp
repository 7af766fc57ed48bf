// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/step_files.hpp"

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

StorageContext tiers_with_room(std::uint64_t first_states, std::uint64_t second_states) {
  StorageContext first;
  first.room_bytes = first_states * 4096 + 4095;
  StorageContext second;
  second.room_bytes = second_states * 4096;
  first.spill.push_back(second);
  return first;
}

TEST(StepTiers, TheFirstTargetWithRoomTakesAState) {
  const StorageContext context = tiers_with_room(2, 3);
  StepTiers tiers(context, 5, 4000);
  EXPECT_TRUE(tiers.check_room().has_value());
  std::vector<std::size_t> found;
  for (std::uint64_t place = 0; place < 5; ++place) {
    found.push_back(tiers.take().value());
    tiers.enter(place, found.back());
  }
  EXPECT_EQ(found, (std::vector<std::size_t>{0, 0, 1, 1, 1}));
  EXPECT_EQ(&tiers.of(1), &context);
  EXPECT_EQ(&tiers.of(2), &context.spill[0]);
  ASSERT_FALSE(tiers.take().has_value());
  EXPECT_EQ(tiers.take().error().errno_value, ENOSPC);
}

TEST(StepTiers, NothingMoreGoesToATargetThatIsFull) {
  const StorageContext context = tiers_with_room(4, 4);
  StepTiers tiers(context, 5, 4096);
  EXPECT_EQ(tiers.take(), 0U);
  tiers.filled(0);
  EXPECT_EQ(tiers.take(), 1U);
}

TEST(StepTiers, TargetsThatAreTooSmallTogetherAreRefused) {
  const StorageContext context = tiers_with_room(2, 2);
  const StepTiers tiers(context, 5, 4096);
  const auto status = tiers.check_room();
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().text.find("room for 4 states of a rank, of 5"), std::string::npos) << status.error().text;
}

TEST(StepTiers, ASingleTargetTakesAll) {
  const StorageContext context;
  StepTiers tiers(context, 1'000'000, 4096);
  EXPECT_TRUE(tiers.check_room().has_value()) << "its room was checked before";
  EXPECT_EQ(tiers.take(), 0U);
  EXPECT_EQ(&tiers.of(999'999), &context);
}

class MpiStepSpill : public OneRepetition {
 protected:
  /// States at the first and at the second target, of all ranks.
  static std::vector<std::uint64_t> states_at(const Json& record) {
    std::vector<std::uint64_t> found;
    for (const Json& tier : record["facts"]["tiers"]) found.push_back(tier["states"]);
    return found;
  }
};

TEST_F(MpiStepSpill, StatesGoOnToTheNextTargetWhereTheLimitEnds) {
  spill_to_second(5, 100);
  for (const std::int64_t depth : {0, 3})
    for (const char* order : {"reverse", "revolve"}) {
      if (depth > 0 && std::string(order) == "revolve") continue;
      const Json records = run({{"order", words(order)},
                                {"write_behind", number(depth)},
                                {"prefetch", number(depth)},
                                {"remove_read", std::string(order) != "revolve"}});
      EXPECT_EQ(status_, PhaseStatus::ok) << records.dump();
      expect_nothing_left();
      if (!world().root()) continue;
      const std::uint64_t kept = std::string(order) == "revolve" ? 10 : 12;
      for (const Json& record : records)
        EXPECT_EQ(states_at(record)[0] + states_at(record)[1], kept * ranks()) << record.dump();
      if (kept == 12) {
        EXPECT_EQ(states_at(records[1])[0], 5 * ranks());
      }
      EXPECT_EQ(records[1]["bad_blocks"], 0);
    }
}

TEST_F(MpiStepSpill, ATargetThatIsFullInTheMiddleHandsOverToTheNext) {
  spill_to_second(100, 100);
  use("fault",
      {{"inner", words("posix")}, {"kind", words("enospc")}, {"operation", words("write")}, {"after", number(7)}});
  const Json records = run({});
  EXPECT_EQ(status_, PhaseStatus::ok) << records.dump();
  expect_nothing_left();
  if (world().root()) {
    EXPECT_EQ(states_at(records[0]), (std::vector<std::uint64_t>{7 * ranks(), 5 * ranks()}));
  }
}

TEST_F(MpiStepSpill, WhereAllTargetsAreFullTheCaseFailsAndNothingIsLeft) {
  spill_to_second(100, 2);
  use("fault",
      {{"inner", words("posix")}, {"kind", words("enospc")}, {"operation", words("write")}, {"after", number(7)}});
  const Json records = run({});
  EXPECT_EQ(status_, PhaseStatus::failed);
  expect_nothing_left();
  if (world().root()) {
    EXPECT_EQ(records[0]["failures"][0]["errno"], ENOSPC) << records.dump();
  }
}

TEST_F(MpiStepSpill, ASingleTargetThatIsFullFailsAndNothingIsLeft) {
  use("fault",
      {{"inner", words("posix")}, {"kind", words("edquot")}, {"operation", words("write")}, {"after", number(7)}});
  const Json records = run({});
  EXPECT_EQ(status_, PhaseStatus::failed);
  expect_nothing_left();
  if (world().root()) {
    EXPECT_EQ(records[0]["failures"][0]["errno"], EDQUOT) << records.dump();
  }
}

TEST_F(MpiStepSpill, ACorruptedStateOnTheSecondTargetIsFound) {
  spill_to_second(5, 100);
  const Json records = run({}, [&] {
    if (!world().root()) return;
    std::fstream file(further_->path("c-" + id() + "/r.0/s.0.9"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file << "XY";
  });
  EXPECT_EQ(status_, PhaseStatus::failed);
  expect_nothing_left();
  if (world().root()) {
    EXPECT_NE(records[1]["failures"][0].dump().find("rank 0 at step 9"), std::string::npos) << records[1].dump();
  }
}

}  // namespace

}  // namespace ullage::stepfile_test
