// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/accelerator.hpp"

#include "storage/workloads/loader/test_support.hpp"

namespace ullage::loader_test {
namespace {

class AcceleratorTest : public OneRepetition {
 protected:
  void bind(const Values& given) {
    parameters_ = bind_parameters<LoaderParameters>(values_of(given));
    context_ = context();
    state_.parameters = &parameters_;
    state_.context = &context_;
    state_.capabilities = backend_->capabilities();
    state_.files = SampleFiles(parameters_.set(1));
    state_.readers = {.accelerators = 1, .samples = parameters_.samples, .by_node = false, .seed = 1};
    memory_ = AlignedBuffer(SampleReader::bytes_needed(state_));
  }

  LoaderParameters parameters_;
  StorageContext context_;
  LoaderState state_;
  AlignedBuffer memory_;
};

TEST_F(AcceleratorTest, TakesAllBatchesAndComputesWithEach) {
  use("null");
  bind({{"step_s", 0.001}, {"batch", number(20)}});
  TrainingAccount account(1);
  meter_.use_parts(TrainingAccount::part_names().size());
  meter_.start(now_ns());
  Accelerator accelerator(state_, SampleOrder(state_.files, state_.readers, 0, 0), memory_.bytes(), account);
  EXPECT_EQ(accelerator.steps(), 5U);
  ASSERT_TRUE(accelerator.start());
  const std::int64_t from = now_ns();
  account.start(meter_, from);
  accelerator.work();
  EXPECT_TRUE(account.wait_for_all());
  EXPECT_GE(now_ns() - from, 5'000'000) << "five steps of a millisecond";
  EXPECT_EQ(account.samples(), 100U);
  EXPECT_EQ(meter_.operations(), 5U);
  EXPECT_NEAR(account.sum().compute_s, 0.004, 1e-9);
}

TEST_F(AcceleratorTest, WithoutSamplesOnTheTargetFailsWithTheName) {
  bind({});
  TrainingAccount account(1);
  meter_.use_parts(TrainingAccount::part_names().size());
  meter_.start(now_ns());
  state_.dataset = {.dataset = "none", .directory = "none", .files = 100, .per_process = true};
  Accelerator accelerator(state_, SampleOrder(state_.files, state_.readers, 0, 0), memory_.bytes(), account);
  ASSERT_TRUE(accelerator.start());
  account.start(meter_, now_ns());
  accelerator.work();
  const Status status = account.wait_for_all();
  ASSERT_FALSE(status);
  EXPECT_NE(test::line_of(status).find("none/data."), std::string::npos) << test::line_of(status);
}

TEST_F(AcceleratorTest, EverySampleIsReadOnceWhateverTheWindow) {
  use("null");
  for (const std::int64_t ahead : {1, 2, 30}) {
    bind({{"batch", number(7)}, {"threads", number(3)}, {"ahead", number(ahead)}});
    TrainingAccount account(1);
    meter_.use_parts(TrainingAccount::part_names().size());
    meter_.start(now_ns());
    Accelerator accelerator(state_, SampleOrder(state_.files, state_.readers, 0, 0), memory_.bytes(), account);
    EXPECT_EQ(accelerator.steps(), 15U) << "the last has two samples";
    ASSERT_TRUE(accelerator.start());
    account.start(meter_, now_ns());
    accelerator.work();
    EXPECT_TRUE(account.wait_for_all());
    EXPECT_EQ(account.samples(), 100U);
    EXPECT_EQ(meter_.operations(), 15U);
    EXPECT_EQ(meter_.parts()[0].operations(), 100U);
  }
}

}  // namespace
}  // namespace ullage::loader_test
