// SPDX-License-Identifier: Apache-2.0
#include "storage/backends/fault_metadata.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::fault_metadata_test {

FaultParameters fault(FaultOperation operation, FaultKind kind, std::uint64_t after, std::uint64_t count = 1) {
  FaultParameters parameters;
  parameters.operation = operation;
  parameters.kind = kind;
  parameters.after = after;
  parameters.count = count;
  parameters.delay_s = 0.001;
  return parameters;
}

class MpiFaultMetadata : public ::testing::Test {
 protected:
  MpiFaultMetadata() : posix_(bench_.make("posix")), name_("r" + std::to_string(bench_.world().rank())) {
    EXPECT_TRUE(posix_->make_directory(name_));
  }
  /// Work on names "a", "b" ... of this rank's own directory; the meter has what was done.
  Status perform(const FaultParameters& parameters, MetadataOperation operation, std::size_t items = 4) {
    injector_.emplace(parameters, bench_.world().rank());
    const auto api = std::make_unique<FaultMetadata>(std::move(posix_->make_metadata().value()), *injector_,
                                                     bench_.folder().path() + "/");
    const int directory = api->enter(name_).value();
    std::vector<std::string> names;
    for (std::size_t i = 0; i < items; ++i) names.emplace_back(1, static_cast<char>('a' + i));
    data_.assign(items * 8, std::byte{1});
    std::vector<MetadataItem> work;
    for (std::size_t i = 0; i < items; ++i) work.push_back({directory, names[i].c_str(), nullptr, &data_[8 * i], 8});
    meter_.emplace();
    (*meter_)->use_parts(3);
    return api->perform(operation, work, false, **meter_);
  }
  [[nodiscard]] std::vector<std::string> made() const { return test::names_in(bench_.path(name_)); }

  test::Bench bench_;
  std::unique_ptr<Backend> posix_;
  std::string name_;
  std::optional<FaultInjector> injector_;
  std::optional<test::RunningMeter> meter_;
  std::vector<std::byte> data_;
};

TEST_F(MpiFaultMetadata, ChosenItemFailsWithItsPathAndTheRestIsNotBegun) {
  const Status status = perform(fault(FaultOperation::create, FaultKind::edquot, 2), MetadataOperation::create);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().errno_value, EDQUOT);
  EXPECT_EQ(status.error().operation, "create");
  EXPECT_EQ(status.error().where, bench_.path(name_ + "/c"));
  EXPECT_EQ((*meter_)->operations(), 2U);
  EXPECT_EQ(made(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(MpiFaultMetadata, DelayLetsTheItemPass) {
  EXPECT_TRUE(perform(fault(FaultOperation::create, FaultKind::delay, 1), MetadataOperation::create));
  EXPECT_EQ(made().size(), 4U);
  EXPECT_EQ((*meter_)->operations(), 4U);
}

TEST_F(MpiFaultMetadata, OtherOperationsAndOtherRanksAreLeftAlone) {
  EXPECT_TRUE(perform(fault(FaultOperation::stat, FaultKind::eio, 0, 0), MetadataOperation::create));
  FaultParameters elsewhere = fault(FaultOperation::stat, FaultKind::eio, 0, 0);
  elsewhere.rank = bench_.world().rank() + 1;
  EXPECT_TRUE(perform(elsewhere, MetadataOperation::stat));
  EXPECT_FALSE(perform(fault(FaultOperation::remove, FaultKind::eio, 0, 0), MetadataOperation::unlink));
  EXPECT_EQ(made().size(), 4U);
}

TEST_F(MpiFaultMetadata, FlippedBitIsInWhatIsRead) {
  EXPECT_TRUE(perform(fault(FaultOperation::stat, FaultKind::eio, 0), MetadataOperation::create));
  EXPECT_TRUE(perform(fault(FaultOperation::read, FaultKind::flip, 1), MetadataOperation::read));
  EXPECT_EQ(data_[0], std::byte{1});
  EXPECT_EQ(data_[8], std::byte{0});
}

}  // namespace ullage::fault_metadata_test
