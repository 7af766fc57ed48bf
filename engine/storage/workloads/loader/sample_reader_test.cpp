// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/sample_reader.hpp"

#include "storage/workloads/loader/sample_write_phase.hpp"
#include "storage/workloads/loader/test_support.hpp"

namespace ullage::loader_test {
namespace {

class SampleReaderTest : public OneRepetition {
 protected:
  /// Writes the set as this rank's share of it.
  void write(const Values& given) {
    parameters_ = bind_parameters<LoaderParameters>(values_of(given));
    context_ = context();
    state_.parameters = &parameters_;
    state_.context = &context_;
    state_.capabilities = backend_->capabilities();
    state_.files = SampleFiles(parameters_.set(1));
    state_.readers = {.accelerators = 1, .samples = parameters_.samples, .by_node = false, .seed = 1};
    state_.dataset = {.dataset = "d", .directory = "d", .files = state_.files.files(), .per_process = true};
    ASSERT_TRUE(backend_->make_directory("d"));
    SampleWritePhase phase(state_);
    ASSERT_TRUE(phase.before());
    test::RunningMeter meter;
    for (std::uint64_t done = 0; done < phase.operations();) {
      done += phase.prepare(done, phase.operations() - done);
      ASSERT_TRUE(phase.execute(*meter));
    }
    EXPECT_EQ(meter->operations(), phase.operations());
    EXPECT_EQ(phase.counters()["files"], state_.files.files());
    ASSERT_TRUE(phase.close());
    memory_ = AlignedBuffer(SampleReader::bytes_needed(state_));
    reader_ = std::make_unique<SampleReader>(state_, SampleOrder(state_.files, state_.readers, 0, 0), memory_.bytes());
    reader_->poison();
  }
  void read(std::uint64_t count) {
    for (std::uint64_t index = 0; index < count; ++index) {
      const auto times = reader_->read(index, own_);
      ASSERT_TRUE(times) << test::line_of(times);
      EXPECT_GT(times->open_ns + times->read_ns + times->close_ns, 0);
    }
  }

  LoaderParameters parameters_;
  StorageContext context_;
  LoaderState state_;
  AlignedBuffer memory_;
  std::unique_ptr<SampleReader> reader_;
  SampleReader::Own own_;
};

TEST_F(SampleReaderTest, FilesHaveTheSizesOfTheirSamples) {
  write({{"samples_per_file", number(7)}});
  for (std::uint64_t file = 0; file < state_.files.files(); ++file)
    EXPECT_EQ(std::filesystem::file_size(bench_.path(state_.dataset.file_name(file))), state_.files.file_bytes(file));
}

TEST_F(SampleReaderTest, SlotsHoldTheLastPieceOfTheLastSamples) {
  write({{"samples_per_file", number(7)}});
  read(100);
  Verification found;
  reader_->check_kept(100, found);
  EXPECT_EQ(found.bad_blocks, 0U);
  EXPECT_GT(found.verified_bytes, 0U);
}

TEST_F(SampleReaderTest, ASlotThatNothingWasReadIntoIsNotTakenForASample) {
  write({});
  Verification found;
  reader_->check_kept(parameters_.window(), found);
  EXPECT_GT(found.bad_blocks, 0U);
  ASSERT_TRUE(found.first.has_value());
  EXPECT_NE(to_line(*found.first).find("data."), std::string::npos) << to_line(*found.first);
}

TEST_F(SampleReaderTest, ReadingAgainFindsAByteAnywhere) {
  write({{"samples_per_file", number(100)}});
  {
    std::fstream file(bench_.path("d/data.00000000"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(state_.files.place(50).offset_bytes + 17));
    file.put('\x5a');
  }
  test::RunningMeter progress;
  Verification found;
  for (std::uint64_t index = 0; index < 100; ++index) ASSERT_TRUE(reader_->check_again(index, *progress, found));
  EXPECT_EQ(found.bad_blocks, 1U);
  ASSERT_TRUE(found.first.has_value());
  EXPECT_EQ(found.first->offset_bytes, state_.files.place(50).offset_bytes + 17);
  EXPECT_EQ(found.verified_bytes, state_.files.file_bytes(0));
}

}  // namespace
}  // namespace ullage::loader_test
