// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

#include "storage/test_support.hpp"

namespace ullage::fault_test {

using namespace test;

Values fault(const std::string& kind, const std::string& operation, std::int64_t after = 0, std::int64_t count = 1) {
  return {{"kind", kind}, {"operation", operation}, {"after", after}, {"count", count}};
}

Values with(Values values, const std::string& name, Value value) {
  values[name] = std::move(value);
  return values;
}

struct Outcome {
  Status transferred;
  std::uint64_t operations = 0;
  std::uint64_t bytes = 0;
};

Outcome move(Backend& backend, Direction direction, const Transfers& transfers, bool shared = false) {
  const auto mode = direction == Direction::write ? OpenMode::create : OpenMode::read;
  auto file = backend.open({"f", mode, shared, 0});
  EXPECT_TRUE(file) << line_of(file);
  RunningMeter meter;
  Outcome outcome{(*file)->transfer(direction, transfers.extents(), *meter), 0, 0};
  outcome.operations = meter->operations();
  outcome.bytes = meter->bytes();
  EXPECT_TRUE((*file)->close());
  return outcome;
}

TEST(FaultBackend, ErrorsComeAtTheChosenWrite) {
  for (const auto& [kind, errno_value] :
       {std::pair("eio", EIO), std::pair("enospc", ENOSPC), std::pair("edquot", EDQUOT)}) {
    Bench bench;
    const auto backend = bench.make("fault", fault(kind, "write", 2));
    const Transfers transfers(5, 4096, 1);
    const Outcome outcome = move(*backend, Direction::write, transfers);
    ASSERT_FALSE(outcome.transferred) << kind;
    EXPECT_EQ(outcome.transferred.error().errno_value, errno_value);
    EXPECT_EQ(outcome.transferred.error().offset_bytes, 8192U);
    EXPECT_EQ(outcome.transferred.error().where, bench.path("f"));
    EXPECT_EQ(outcome.transferred.error().operation, "write");
    EXPECT_EQ(outcome.operations, 2U);
    EXPECT_EQ(std::filesystem::file_size(bench.path("f")), 8192U) << "what came before it is there";
  }
}

TEST(FaultBackend, AfterTheChosenCallsAllIsWell) {
  Bench bench;
  const auto backend = bench.make("fault", fault("eio", "write", 0, 1));
  const Transfers transfers(2, 4096, 1);
  const auto file = *backend->open({"f", OpenMode::create, false, 0});
  RunningMeter meter;
  EXPECT_FALSE(file->transfer(Direction::write, transfers.extents(), *meter));
  EXPECT_TRUE(file->transfer(Direction::write, transfers.extents(), *meter));
  EXPECT_EQ(meter->operations(), 2U);
}

TEST(FaultBackend, OtherOperationsAreLeftAlone) {
  Bench bench;
  const auto backend = bench.make("fault", fault("eio", "read"));
  Transfers transfers(3, 4096, 1);
  EXPECT_TRUE(move(*backend, Direction::write, transfers).transferred);
  EXPECT_FALSE(move(*backend, Direction::read, transfers).transferred);
  EXPECT_TRUE(move(*backend, Direction::read, transfers).transferred);
}

TEST(FaultBackend, OpenSyncCloseAndRemove) {
  const Transfers transfers(1, 4096, 1);
  for (const char* operation : {"open", "sync", "close", "remove"}) {
    Bench bench;
    const auto backend = bench.make("fault", fault("eio", operation));
    auto file = backend->open({"f", OpenMode::create, false, 0});
    const auto expect_injected = [&](const Status& status, const std::string& at) {
      EXPECT_EQ(status.has_value(), at != operation) << operation << " " << at;
      if (!status) {
        EXPECT_EQ(line_of(status), at + " " + bench.path("f") + ": Input/output error (injected) (errno 5)");
      }
    };
    expect_injected(file ? Status{} : fail(file.error()), "open");
    if (!file) file = backend->open({"f", OpenMode::create, false, 0});
    RunningMeter meter;
    EXPECT_TRUE((*file)->transfer(Direction::write, transfers.extents(), *meter));
    expect_injected((*file)->sync(), "sync");
    expect_injected((*file)->close(), "close");
    expect_injected(backend->remove_file("f"), "remove");
    EXPECT_EQ(std::filesystem::exists(bench.path("f")), std::string(operation) == "remove");
  }
}

TEST(FaultBackend, ShortCallsStillMoveEverything) {
  Bench bench;
  const auto backend = bench.make("fault", with(fault("short", "write", 1, 2), "short_bytes", 100));
  Transfers transfers(4, 4096, 1);
  const Outcome written = move(*backend, Direction::write, transfers);
  EXPECT_TRUE(written.transferred) << line_of(written.transferred);
  EXPECT_EQ(written.operations, 4U) << "one a transfer, however many calls it took";
  EXPECT_EQ(written.bytes, 4U * 4096);
  transfers.poison();
  EXPECT_TRUE(move(*backend, Direction::read, transfers).transferred);
  EXPECT_EQ(transfers.wrong_bytes(), 0U);
}

TEST(FaultBackend, ShortReadsToo) {
  Bench bench;
  const auto backend = bench.make("fault", with(fault("short", "read", 0, 0), "short_bytes", 1'000'000));
  Transfers transfers(3, 4096, 1);
  EXPECT_TRUE(move(*backend, Direction::write, transfers).transferred);
  transfers.poison();
  const Outcome read = move(*backend, Direction::read, transfers);
  EXPECT_TRUE(read.transferred);
  EXPECT_EQ(read.operations, 3U);
  EXPECT_EQ(transfers.wrong_bytes(), 0U);
}

TEST(FaultBackend, ShortCallsKeepDirectAlignment) {
  Bench bench;
  const Values given = with(fault("short", "write", 0, 0), "inner_parameters", Map{{"direct", "true"}});
  const auto backend = bench.try_make("fault", given);
  if (!backend) GTEST_SKIP() << line_of(backend);
  EXPECT_TRUE((*backend)->capabilities().direct);
  const Transfers transfers(2, 64 << 10, 1);
  const Outcome written = move(**backend, Direction::write, transfers);
  EXPECT_TRUE(written.transferred) << line_of(written.transferred);
}

TEST(FaultBackend, FlipOnReadChangesOneBitOfWhatIsGiven) {
  Bench bench;
  const auto backend = bench.make("fault", with(fault("flip", "read", 1), "flip_bit", std::int64_t{8 * 10 + 3}));
  Transfers transfers(3, 4096, 1);
  EXPECT_TRUE(move(*backend, Direction::write, transfers).transferred);
  const std::byte before = transfers.extents()[1].data[10];
  transfers.poison();
  EXPECT_TRUE(move(*backend, Direction::read, transfers).transferred);
  EXPECT_EQ(transfers.wrong_bytes(), 1U);
  EXPECT_EQ(transfers.extents()[1].data[10], before ^ std::byte{8});
  EXPECT_TRUE(move(*backend, Direction::read, transfers).transferred);
  EXPECT_EQ(transfers.wrong_bytes(), 0U) << "the file itself was never touched";
}

TEST(FaultBackend, FlipOnWriteChangesTheFileAndNotThePayload) {
  Bench bench;
  const auto backend = bench.make(
      "fault", with(fault("flip", "write", 0), "flip_bit", std::int64_t{4096 * 8}));  // modulo: the first bit
  Transfers transfers(2, 4096, 1);
  EXPECT_TRUE(move(*backend, Direction::write, transfers).transferred);
  EXPECT_EQ(transfers.wrong_bytes(), 0U);
  transfers.poison();
  EXPECT_TRUE(move(*backend, Direction::read, transfers).transferred);
  EXPECT_EQ(transfers.wrong_bytes(), 1U);
}

/// A pause of this process may make another operation as long: one time of many is enough for the median.
TEST(FaultBackend, DelayIsInTheOperationsLatency) {
  Bench bench;
  const Transfers transfers(3, 512, 1);
  bool is_alone = false;
  for (int time = 0; time < 20 && !is_alone; ++time) {
    const auto backend =
        bench.make("fault", with(with(fault("delay", "write", 1), "delay_s", 0.05), "inner", std::string("null")));
    const auto file = *backend->open({});
    RunningMeter meter;
    EXPECT_TRUE(file->transfer(Direction::write, transfers.extents(), *meter));
    EXPECT_EQ(meter->operations(), 3U);
    EXPECT_GE(meter->histogram().max_ns(), 50'000'000U);
    is_alone = meter->histogram().quantile_ns(0.5) < 50'000'000U;
  }
  EXPECT_TRUE(is_alone);
}

TEST(FaultBackend, HangLastsUntilTheProcessIsEnded) {
  Bench bench;
  const auto backend = bench.make("fault", with(fault("hang", "write"), "inner", std::string("null")));
  const Transfers transfers(1, 512, 1);
  const auto file = *backend->open({});
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGTERM, SIG_DFL);
    RunningMeter meter;
    (void)file->transfer(Direction::write, transfers.extents(), *meter);
    _exit(0);
  }
  usleep(150'000);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, WNOHANG), 0) << "still hanging";
  kill(child, SIGTERM);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST(FaultBackend, StopsWhenTheMeterSaysSo) {
  Bench bench;
  const auto backend = bench.make("fault", with(fault("eio", "write", 3), "inner", std::string("null")));
  const Transfers transfers(5, 512, 1);
  const auto file = *backend->open({});
  const std::atomic<bool> stop = true;
  Meter meter(stop);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    meter.start(now_ns());
    EXPECT_TRUE(file->transfer(Direction::write, transfers.extents(), meter));
    EXPECT_EQ(meter.operations(), 1U);
  }
  meter.start(now_ns());
  EXPECT_FALSE(file->transfer(Direction::write, transfers.extents(), meter))
      << "the fourth call, counted over all batches";
}

TEST(FaultBackend, BadParametersAreBadPlans) {
  const auto* entry = Registry<BackendEntry>::instance().find("fault");
  const auto where = [&](const Values& given) {
    const auto values = complete(entry->description.parameters, given, "/p");
    if (!values) return values.error().where;
    const auto status = entry->check(*values, "/p");
    return status ? std::string() : status.error().where;
  };
  EXPECT_EQ(where({}), "");
  EXPECT_EQ(where(fault("flip", "sync")), "/p/operation");
  EXPECT_EQ(where({{"inner", std::string("fault")}}), "/p/inner");
  EXPECT_EQ(where({{"inner", std::string("posxi")}}), "/p/inner");
  EXPECT_EQ(where({{"inner_parameters", Map{{"dircet", "true"}}}}), "/p/inner_parameters/dircet");
  EXPECT_EQ(where({{"inner_parameters", Map{{"direct", "maybe"}}}}), "/p/inner_parameters/direct");
  EXPECT_EQ(where({{"rank", std::int64_t{-2}}}), "/p/rank");
}

TEST(FaultBackend, HasTheInnerCapabilities) {
  Bench bench;
  EXPECT_FALSE(bench.make("fault", {{"inner", std::string("null")}})->capabilities().data);
  EXPECT_TRUE(bench.make("fault")->capabilities().data);
}

TEST(MpiFaultBackend, OneRanksOpenFailsForAllAndNoneWaits) {
  Bench bench;
  const int last = bench.world().size() - 1;
  const auto backend = bench.make("fault", with(fault("enospc", "open"), "rank", std::int64_t{last}));
  const auto file = backend->open({"f", OpenMode::create, true, 0});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().errno_value, ENOSPC);
  const auto again = backend->open({"f", OpenMode::create, true, 0});
  EXPECT_TRUE(again) << line_of(again);
}

TEST(MpiFaultBackend, OnlyTheChosenRankSuffers) {
  Bench bench;
  const int last = bench.world().size() - 1;
  const auto backend = bench.make("fault", with(fault("eio", "write"), "rank", std::int64_t{last}));
  const Transfers transfers(3, 4096, 1, static_cast<std::uint64_t>(bench.world().rank()) * 3 * 4096);
  const Outcome outcome = move(*backend, Direction::write, transfers, true);
  EXPECT_EQ(outcome.transferred.has_value(), bench.world().rank() != last);
}

}  // namespace ullage::fault_test
