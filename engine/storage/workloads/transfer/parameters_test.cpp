// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/transfer/parameters.hpp"

#include <gtest/gtest.h>

namespace ullage::transfer_parameters_test {

std::string refused_at(const TransferParameters& parameters, const Capabilities& capabilities = {}) {
  const auto status = check_transfer(parameters, capabilities, {}, "/p");
  return status ? "" : status.error().where;
}

TEST(TransferParameters, DefaultsAreAccepted) { EXPECT_EQ(refused_at({}), ""); }

TEST(TransferParameters, CombinationsThatMeanNothingAreRefused) {
  EXPECT_EQ(refused_at({.transfer_bytes = 12}), "/p/transfer_bytes");
  EXPECT_EQ(refused_at({.transfer_bytes = 3000, .block_bytes = 4000}), "/p/block_bytes");
  EXPECT_EQ(refused_at({.directory_per_process = true}), "/p/directory_per_process");
  EXPECT_EQ(refused_at({.phases = {PhaseKind::read, PhaseKind::write}}), "/p/phases");
  EXPECT_EQ(refused_at({.phases = {PhaseKind::write, PhaseKind::write}}), "/p/phases");
  EXPECT_EQ(refused_at({.stride = 3}), "/p/stride");
  EXPECT_EQ(refused_at({.read_shift = 2}), "/p/read_shift");
  EXPECT_EQ(refused_at({.stonewall_s = 1, .wear_out_limit_s = 1}), "/p/wear_out_limit_s");
  EXPECT_EQ(refused_at({.sync_every = 4}), "/p/sync_every");
  EXPECT_EQ(refused_at({.wear_out = true}), "/p/wear_out");
  EXPECT_EQ(refused_at({.transfer_bytes = 2048, .dedup_ratio = 2}), "/p/dedup_ratio");
  EXPECT_EQ(refused_at({.threads = 2}), "/p/threads");
  EXPECT_EQ(refused_at({.queue_depth = 2}), "/p/queue_depth");
  EXPECT_EQ(refused_at({}, {.data = false}), "/p/verify");
}

TEST(TransferParameters, OrderOfTheWritingMustLeaveAWholeFileToTheOthers) {
  EXPECT_EQ(refused_at({.order = Order::repeat}), "/p/write_order");
  EXPECT_EQ(refused_at({.order = Order::repeat, .write_order = WriteOrder::sequential}), "");
  EXPECT_EQ(refused_at({.phases = {PhaseKind::rewrite}, .order = Order::repeat}), "");
  EXPECT_EQ(refused_at({.write_order = WriteOrder::sequential}), "/p/write_order");
  EXPECT_EQ(refused_at({.order = Order::random, .write_order = WriteOrder::sequential, .stonewall_s = 1}),
            "/p/write_order");
}

TEST(TransferParameters, OnlyTheWritePhaseHasAnOrderOfItsOwn) {
  const TransferParameters parameters{.order = Order::random, .write_order = WriteOrder::sequential};
  EXPECT_EQ(parameters.order_of(PhaseKind::write), Order::sequential);
  for (const PhaseKind kind : {PhaseKind::rewrite, PhaseKind::read, PhaseKind::reread})
    EXPECT_EQ(parameters.order_of(kind), Order::random);
}

TEST(TransferParameters, MixedPhaseIsRefusedWhereItCannotBe) {
  const std::vector<PhaseKind> phases{PhaseKind::write, PhaseKind::mixed};
  EXPECT_EQ(refused_at({.phases = phases}), "");
  EXPECT_EQ(refused_at({.read_share = 0.7}), "/p/read_share");
  EXPECT_EQ(refused_at({.phases = phases, .read_share = 0.0005}), "/p/read_share");
  EXPECT_EQ(refused_at({.phases = phases, .sync = SyncWhen::every}), "/p/sync");
  EXPECT_EQ(refused_at({.phases = phases}, {.collective = true}), "/p/phases");
  EXPECT_EQ(refused_at({.phases = phases, .file_mode = FileMode::per_process}, {.collective = true}), "");
  EXPECT_EQ(refused_at({.phases = phases, .verify = Verify::none}, {.data = false}), "/p/phases");
}

}  // namespace ullage::transfer_parameters_test
