// SPDX-License-Identifier: Apache-2.0
// The phase on one rank, on a file it is given.
#include "storage/workloads/transfer/mixed_phase.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "storage/backend.hpp"
#include "storage/test_support.hpp"

namespace ullage::mixed_transfer_phase_test {
namespace {

class MixedTransferPhases : public ::testing::Test {
 protected:
  MixedTransferPhases() : backend_(bench_.make("posix")) {
    parameters_.operations = 2000;
    context_.world = &bench_.world();
    context_.folder = &bench_.folder();
    context_.backend = backend_.get();
    context_.buffer = &buffer_;
    state_.parameters = &parameters_;
    state_.context = &context_;
    state_.dataset = {"d", "c-d", 1, true, false, std::nullopt};
    state_.capabilities = backend_->capabilities();
    state_.written.transfer_bytes = 65536;
    state_.written.block_bytes = std::uint64_t{16} * 65536;
    state_.written.file_mode = FileMode::per_process;
    state_.written_operations = 16;
    state_.payload.run_key = 7;
    state_.payload.transfer_bytes = 65536;
    EXPECT_TRUE(backend_->make_directory("c-d"));
    std::string text(state_.written.block_bytes, '\0');
    const Payload payload(state_.payload);
    for (std::uint64_t at = 0; at < text.size(); at += 65536)
      payload.fill(std::as_writable_bytes(std::span(text)).subspan(at, 65536), 0, at);
    test::write_file(path(), text);
  }
  [[nodiscard]] std::string path() const { return bench_.path(state_.file_name()); }

  Status begin() {
    phase_ = std::make_unique<MixedTransferPhase>(state_);
    if (Status got = phase_->allocate(); !got) return got;
    return phase_->before();
  }
  /// Collective stages of a phase that may begin.
  Verification run() {
    const Status ready = begin();
    EXPECT_TRUE(ready) << test::line_of(ready);
    meter_->use_parts(phase_->info().parts.size());
    EXPECT_TRUE(phase_->open());
    meter_->start(now_ns());
    for (std::uint64_t done = 0; done < phase_->operations(); done = meter_->operations()) {
      (void)phase_->prepare(done, std::min<std::uint64_t>(phase_->operations() - done, 300));
      const Status status = phase_->execute(*meter_);
      EXPECT_TRUE(status) << test::line_of(status);
      if (!status) break;
    }
    if (phase_->wants_sync()) {
      EXPECT_TRUE(phase_->sync());
    }
    EXPECT_TRUE(phase_->close());
    test::RunningMeter progress;
    return phase_->after(meter_->operations(), *progress);
  }

  test::Bench bench_;
  std::unique_ptr<Backend> backend_;
  AlignedBuffer buffer_;
  MixedTransferParameters parameters_;
  StorageContext context_;
  MixedTransferState state_;
  std::unique_ptr<MixedTransferPhase> phase_;
  test::RunningMeter meter_;
};

TEST_F(MixedTransferPhases, ReadsAreCheckedAndCounted) {
  const Verification verification = run();
  EXPECT_FALSE(verification.first) << to_line(*verification.first);
  EXPECT_EQ(verification.verified_bytes, 2000U * 4096);
  EXPECT_EQ(phase_->counters(), (Counters{{"positions", 256}, {"reads", 2000}, {"writes", 0}}));
  EXPECT_EQ(phase_->info().access, Access::read);
  EXPECT_FALSE(phase_->wants_sync());
}

TEST_F(MixedTransferPhases, MixHasPartsAndLeavesTheFileAsItWas) {
  parameters_.read_share = 0.25;
  const std::string before = test::read_file(path());
  const Verification verification = run();
  EXPECT_FALSE(verification.first) << to_line(*verification.first);
  EXPECT_EQ(phase_->counters(), (Counters{{"positions", 256}, {"reads", 500}, {"writes", 1500}}));
  EXPECT_EQ(meter_->parts()[0].operations(), 500U);
  EXPECT_EQ(meter_->parts()[1].operations(), 1500U);
  EXPECT_EQ(phase_->info().access, Access::write);
  EXPECT_TRUE(phase_->wants_sync());
  EXPECT_TRUE(test::read_file(path()) == before);
}

TEST_F(MixedTransferPhases, WritesReallyWrite) {
  const std::string before = test::read_file(path());
  test::write_file(path(), std::string(before.size(), 'x'));
  parameters_.read_share = 0;
  parameters_.pick = Pick::permutation;
  parameters_.operations = 256;
  (void)run();
  EXPECT_TRUE(test::read_file(path()) == before) << "every position was written with what belongs there";
}

TEST_F(MixedTransferPhases, WrongByteIsFoundAndNamed) {
  std::string text = test::read_file(path());
  text[300'000] = static_cast<char>(text[300'000] + 1);
  test::write_file(path(), text);
  parameters_.pick = Pick::permutation;
  parameters_.operations = 256;
  const Verification verification = run();
  EXPECT_EQ(verification.bad_blocks, 1U);
  ASSERT_TRUE(verification.first);
  EXPECT_EQ(verification.first->offset_bytes, 300'000U);
  EXPECT_EQ(verification.first->where, path());
  parameters_.verify = MixedVerify::none;
  EXPECT_FALSE(run().first);
}

TEST_F(MixedTransferPhases, HolesAndShortFilesAreRefused) {
  ASSERT_EQ(truncate(path().c_str(), 8 * 65536), 0);
  EXPECT_FALSE(begin()) << "shorter than it was written";
  state_.written_operations = 8;
  EXPECT_TRUE(begin()) << "a stonewall has left as much";
  ASSERT_EQ(truncate(path().c_str(), 16 * 65536), 0);
  state_.written_operations = 16;
  EXPECT_FALSE(begin()) << "the second half is a hole";
}

}  // namespace
}  // namespace ullage::mixed_transfer_phase_test
