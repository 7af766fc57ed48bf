// SPDX-License-Identifier: Apache-2.0
// Whole launches of workload `mixed-transfer` on datasets that workload `transfer` has made.
#include "storage/workloads/transfer/mixed_transfer.hpp"

#include <gtest/gtest.h>

#include "storage/workloads/mixed_test_support.hpp"
#include "storage/workloads/test_support.hpp"

namespace ullage::mixed_transfer_test {
namespace {

class MpiMixedTransfer : public test::Launches {
 protected:
  [[nodiscard]] Json written(const std::string& dataset, const Json& more = Json::object()) {
    Json parameters{{"phases", {"write"}}, {"transfer_bytes", 16384}, {"block_bytes", 131072}, {"segments", 2}};
    parameters.update(more);
    return case_of("transfer", dataset, parameters);
  }
  [[nodiscard]] Json mixed(const std::string& dataset, const Json& more = Json::object(),
                           const std::string& backend = "posix", const Json& of_backend = Json::object()) {
    Json parameters{{"operations", operations}};
    parameters.update(more);
    return case_of("mixed-transfer", dataset, parameters, backend, of_backend);
  }
  void expect_refused(const std::vector<Json>& cases, const std::string& reason) {
    EXPECT_EQ(run_cases(cases), exit_code::case_failed);
    if (world_.root()) {
      EXPECT_NE(test::read_file(records()).find(reason), std::string::npos) << test::read_file(records());
    }
    expect_nothing_left();
  }
  static constexpr std::uint64_t operations = 1000;
};

TEST_F(MpiMixedTransfer, EveryMixOnEveryFileModeLeavesDataThatVerifies) {
  for (const char* mode : {"shared", "per-process"})
    for (const char* pick : {"random", "permutation", "zipf"}) {
      const Json files{{"file_mode", mode}};
      Json again = files;
      again.update(Json{{"phases", {"read"}}, {"verify", "full"}});
      ASSERT_EQ(run_cases({written("d", files),
                           mixed("d", {{"pick", pick}, {"read_share", 0.7}, {"read_back", "other-rank"}}),
                           mixed("d", {{"pick", pick}}), written("d", again)}),
                exit_code::ok);
      if (world_.root()) {
        const auto records = phases("mixed");
        ASSERT_EQ(records.size(), 2U);
        EXPECT_EQ(records[0]["access"], "write");
        EXPECT_EQ(records[0]["operations"], operations * ranks());
        EXPECT_EQ(records[0]["counters"]["reads"], 700 * ranks());
        EXPECT_EQ(records[0]["counters"]["writes"], 300 * ranks());
        EXPECT_EQ(records[0]["latency_parts"]["read"]["operations"], 700 * ranks());
        EXPECT_EQ(records[0]["data_of"], ranks() > 1 ? "other-rank" : "own");
        EXPECT_EQ(records[0]["syncs"], ranks());
        EXPECT_EQ(records[1]["access"], "read");
        EXPECT_EQ(records[1]["bytes"], operations * ranks() * 4096);
        EXPECT_GT(records[1]["verified_bytes"], 0U);
        EXPECT_FALSE(records[1]["stages"].contains("sync"));
        EXPECT_EQ(phase("read")["verified_bytes"], 262144 * ranks());
      }
      expect_nothing_left();
    }
}

TEST_F(MpiMixedTransfer, WorksOnWhatAStonewallLeft) {
  const Json wall{{"file_mode", "per-process"}, {"segments", 2000}, {"stonewall_s", 0.01}, {"wear_out", true}};
  Json whole = plan({written("d", wall), mixed("d", {{"read_share", 0.5}})});
  whole["limits"]["space_fraction"] = 1;
  const int code = run(whole);
  if (code == exit_code::environment) GTEST_SKIP() << "too little room here";
  EXPECT_EQ(code, exit_code::ok);
  if (world_.root()) {
    const std::uint64_t written_operations = phase("write")["operations"];
    EXPECT_EQ(phase("mixed")["counters"]["positions"], written_operations * 4);
  }
  expect_nothing_left();
}

TEST_F(MpiMixedTransfer, StonewallEndsThePhase) {
  const Json wall{{"operations", 1'000'000'000}, {"stonewall_s", 0.05}, {"wear_out", true}, {"cache", "none"}};
  ASSERT_EQ(run_cases({written("d"), mixed("d", wall)}), exit_code::ok);
  if (world_.root()) {
    const Json record = phase("mixed");
    EXPECT_GT(record["operations"], 0U);
    EXPECT_EQ(record["operations"], record["stonewall"]["most_operations"].get<std::uint64_t>() * ranks());
    EXPECT_EQ(record["counters"]["reads"], record["operations"]);
  }
}

TEST_F(MpiMixedTransfer, WhatDoesNotFitTheDatasetIsRefused) {
  expect_refused({mixed("d")}, "dataset 'd': is not there; first run the case that makes it");
  expect_refused({written("d"), mixed("d", {{"transfer_bytes", 32768}})}, "must be the dataset's own 16384");
  expect_refused({written("d"), mixed("d", {{"transfer_bytes", 4104}})}, "or a smaller multiple of 512");
  expect_refused({case_of("metadata", "d", {{"phases", {"tree-create", "create"}}, {"items", 2}}), mixed("d")},
                 "must be one of transfer");
}

TEST_F(MpiMixedTransfer, SharedFileOfACollectiveBackendIsRefused) {
  expect_refused({written("d"), mixed("d", Json::object(), "mpiio", {{"collective", true}})}, "collectively");
}

TEST_F(MpiMixedTransfer, IndependentMpiioWorks) {
  ASSERT_EQ(run_cases({written("d"), mixed("d", {{"read_share", 0.5}, {"operations", 100}}, "mpiio")}), exit_code::ok);
  expect_nothing_left();
}

TEST_F(MpiMixedTransfer, FailureOfOneRankFailsTheCaseAndKeepsNothing) {
  const Json faulty{{"operation", "read"}, {"kind", "eio"}, {"rank", world_.size() - 1}, {"after", 50}};
  EXPECT_EQ(run_cases({written("d"), mixed("d", {{"read_share", 0.5}}, "fault", faulty)}), exit_code::case_failed);
  if (world_.root()) {
    EXPECT_EQ(phase("mixed")["failures"][0]["errno"], EIO);
  }
  expect_nothing_left();
}

Status check(const Values& given, const Capabilities& capabilities = {}) {
  const auto values = complete(specs_of(MixedTransferParameters::table()), given, "");
  if (!values) return fail(values.error());
  return check_mixed_transfer(bind_parameters<MixedTransferParameters>(*values), capabilities, "/w");
}

std::string where(const Values& given) {
  const auto status = check(given);
  return status ? "accepted" : status.error().where;
}

TEST(MixedTransferParameters, DefaultsAreSound) { EXPECT_EQ(where({}), "accepted"); }

TEST(MixedTransferParameters, WhatDoesNotFitTogetherIsNamed) {
  EXPECT_EQ(where({{"transfer_bytes", 100}}), "/w/transfer_bytes");
  EXPECT_EQ(where({{"read_share", 0.7005}}), "/w/read_share");
  EXPECT_EQ(where({{"read_share", 1.5}}), "/read_share");
  EXPECT_EQ(where({{"zipf_theta", 0.9}}), "/w/zipf_theta");
  EXPECT_EQ(where({{"read_shift", 2}}), "/w/read_shift");
  EXPECT_EQ(where({{"wear_out", true}}), "/w/wear_out");
  EXPECT_EQ(where({{"stonewall_s", 1.0}, {"wear_out_limit_s", 1.0}}), "/w/wear_out_limit_s");
}

TEST(MixedTransferParameters, SharesInThousandthsAreAccepted) {
  for (const double share : {0.0, 0.001, 0.333, 0.7, 0.999, 1.0}) EXPECT_EQ(where({{"read_share", share}}), "accepted");
}

TEST(MixedTransferParameters, BackendHasToHoldData) {
  const auto status = check({}, Capabilities{.data = false});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().where, "/w");
}

class MixedTransferPhases : public test::StorageWorkloadTest {
 protected:
  MixedTransferPhases() : StorageWorkloadTest("d") {
    use("posix");
    context_ = context();
    parameters_.operations = 2000;
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
  parameters_.verify = Verify::none;
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

}  // namespace ullage::mixed_transfer_test
