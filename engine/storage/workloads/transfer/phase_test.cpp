// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "run/phase_runner.hpp"
#include "storage/backend.hpp"
#include "storage/workloads/transfer/parameters.hpp"

namespace ullage::transfer_phase_test {

struct Store {
  std::map<std::string, std::vector<std::byte>> files;
  int syncs = 0;
  int drops = 0;
  bool fully_written = true;
  std::function<void(std::vector<std::byte>&)> damage;  // done to each file when it is closed after writing
  std::set<const std::byte*> written_from;
  std::set<const std::byte*> read_into;
};

class MemoryFile final : public File {
 public:
  MemoryFile(Store& store, std::string name, bool writes) : store_(store), name_(std::move(name)), writes_(writes) {}
  [[nodiscard]] Status transfer(Direction direction, std::span<const Extent> extents, Meter& meter) override {
    auto& data = store_.files[name_];
    for (const Extent& extent : extents) {
      const std::size_t end = extent.offset_bytes + extent.length_bytes;
      if (direction == Direction::write && data.size() < end) data.resize(end);
      if (end > data.size()) return fail(errno_error(EIO, "read", name_, extent.offset_bytes));
      std::byte* place = data.data() + extent.offset_bytes;
      (direction == Direction::write ? store_.written_from : store_.read_into).insert(extent.data);
      if (direction == Direction::write)
        std::memcpy(place, extent.data, extent.length_bytes);
      else
        std::memcpy(extent.data, place, extent.length_bytes);
      if (!meter.completed(extent.length_bytes)) break;
    }
    return {};
  }
  [[nodiscard]] Status sync() override {
    ++store_.syncs;
    return {};
  }
  [[nodiscard]] Status close() override {
    if (writes_ && store_.damage) store_.damage(store_.files[name_]);
    return {};
  }

 private:
  Store& store_;
  std::string name_;
  bool writes_;
};

class MemoryBackend final : public Backend {
 public:
  explicit MemoryBackend(Store& store) : store_(store) {}
  [[nodiscard]] Capabilities capabilities() const override { return {.path = false}; }
  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) override {
    if (request.mode == OpenMode::create && store_.files.contains(request.name))
      return fail(errno_error(EEXIST, "open", request.name));
    return std::make_unique<MemoryFile>(store_, request.name, request.mode != OpenMode::read);
  }
  [[nodiscard]] Status make_directory(const std::string&) override { return {}; }
  [[nodiscard]] Status remove_file(const std::string& name) override {
    store_.files.erase(name);
    return {};
  }
  [[nodiscard]] Status remove_directory(const std::string&) override { return {}; }
  [[nodiscard]] Result<FileExtents> inspect(const std::string& name) override {
    return FileExtents{store_.files[name].size(), store_.fully_written};
  }
  [[nodiscard]] Status drop_cached(const std::string&) override {
    ++store_.drops;
    return {};
  }

 private:
  Store& store_;
};

class MpiTransferPhase : public ::testing::Test {
 protected:
  MpiTransferPhase() : backend_(store_), meter_(StopFlags::instance().now()), watchdog_({}) {
    StopFlags::instance().reset();
  }

  /// Runs all phases; their records in order.
  std::vector<Json> run(Values given) {
    given.emplace("file_mode", std::string("per-process"));
    const auto* entry = Registry<WorkloadEntry>::instance().find("transfer");
    const auto values = complete(entry->description.parameters, given, "");
    EXPECT_TRUE(values.has_value()) << to_line(values.error());
    StorageContext bound;
    bound.world = &world_;
    bound.backend = &backend_;
    bound.buffer = &buffer_;
    bound.case_id = "0123456789abcdef";
    bound.run_key = 42;
    const auto workload = std::get<StorageWork>(entry->work).make(*values, bound);
    EXPECT_TRUE(begin_together(*workload, world_.all()).everywhere);
    std::vector<Json> records;
    const RunContext context{&world_, &clock_, &watchdog_, &meter_, {}, 0};
    for (std::size_t i = 0; i < workload->phases(); ++i) {
      const auto work = workload->phase(i);
      Json record;
      last_ = run_phase(context, nullptr, *work, record);
      records.push_back(record);
    }
    files_before_end_ = store_.files.size();
    EXPECT_TRUE(end_together(*workload, true, world_.all()).everywhere);
    return records;
  }

  mpi::World world_;
  mpi::CommonClock clock_;
  Store store_;
  MemoryBackend backend_;
  AlignedBuffer buffer_;
  Meter meter_;
  Watchdog watchdog_;
  PhaseOutcome last_;
  std::size_t files_before_end_ = 0;
};

constexpr std::int64_t kib = 1024;

TEST_F(MpiTransferPhase, WritesReadsVerifiesAndRemoves) {
  const auto records =
      run({{"transfer_bytes", 4 * kib}, {"block_bytes", 64 * kib}, {"segments", 2}, {"verify", std::string("full")}});
  EXPECT_EQ(last_.status, PhaseStatus::ok);
  EXPECT_EQ(files_before_end_, 1U);
  EXPECT_TRUE(store_.files.empty());
  EXPECT_EQ(store_.syncs, 1) << "one fsync before close";
  EXPECT_EQ(store_.drops, 1) << "advise before the read";
  if (!world_.root()) return;
  const auto volume = static_cast<std::uint64_t>(world_.size()) * 128 * kib;
  EXPECT_EQ(records[0]["bytes"], volume);
  EXPECT_EQ(records[1]["bytes"], volume);
  EXPECT_EQ(records[1]["verified_bytes"], volume);
  EXPECT_EQ(records[1]["cache_control"], "advise");
}

/// Blocks of which few make the usual buffers: with threads there are buffers for twice as many transfers.
TEST_F(MpiTransferPhase, ThreadsHaveABufferEachAndOneToFollow) {
  const auto records = run({{"transfer_bytes", 4096 * kib},
                            {"block_bytes", 12 * 4096 * kib},
                            {"threads", 4},
                            {"verify", std::string("full")}});
  EXPECT_EQ(last_.status, PhaseStatus::ok);
  EXPECT_GE(buffer_.size(), 8U * 4096 * kib);
  if (world_.root()) {
    EXPECT_EQ(records[1]["verified_bytes"], static_cast<std::uint64_t>(world_.size()) * 12 * 4096 * kib);
    EXPECT_EQ(records[1]["bad_blocks"], 0);
  }
}

TEST_F(MpiTransferPhase, ReadsComeIntoOneBufferAndWritesFromFewUnlessAskedOtherwise) {
  struct {
    std::int64_t transfer;
    std::int64_t buffers;
    std::size_t written_from;
    std::size_t read_into;
  } const wanted[]{{1024 * kib, 0, 1, 1}, {64 * kib, 0, 4, 1}, {1024 * kib, 16 << 20, 16, 16}};
  for (const auto& [transfer, buffers, written_from, read_into] : wanted) {
    store_.written_from.clear();
    store_.read_into.clear();
    const auto records = run({{"transfer_bytes", transfer}, {"block_bytes", 40 * transfer}, {"buffers", buffers}});
    EXPECT_EQ(last_.status, PhaseStatus::ok);
    EXPECT_EQ(store_.written_from.size(), written_from) << transfer << " " << buffers;
    EXPECT_EQ(store_.read_into.size(), read_into) << transfer << " " << buffers;
    if (world_.root()) {
      const auto last = std::min<std::int64_t>(40, (16 << 20) / transfer) * transfer;
      EXPECT_EQ(records[1]["verified_bytes"], last * world_.size()) << "the last 16 MiB, whatever the buffers hold";
    }
  }
}

TEST_F(MpiTransferPhase, ClockStopsForDataUnlessItIsSyncedInBetween) {
  for (const char* sync : {"none", "close", "every"}) {
    const auto records =
        run({{"transfer_bytes", 1024 * kib}, {"block_bytes", 40 * 1024 * kib}, {"sync", std::string(sync)}});
    if (!world_.root()) continue;
    EXPECT_EQ(records[0]["clock_stops"], std::string(sync) != "every");
    EXPECT_EQ(records[1]["clock_stops"], true);
    EXPECT_EQ(records[1]["prepare_ns"], 0) << "reads are all prepared before the timer";
  }
}

/// The bit is in none of the transfers that the buffers still hold.
TEST_F(MpiTransferPhase, KeptVerificationLooksFurtherBackThanTheBuffers) {
  store_.damage = [](std::vector<std::byte>& data) { data[28'000'000] ^= std::byte{1}; };
  const auto records = run({{"transfer_bytes", 1024 * kib}, {"block_bytes", 40 * 1024 * kib}});
  EXPECT_EQ(last_.status, PhaseStatus::failed);
  if (world_.root()) {
    EXPECT_EQ(records[1]["failures"][0]["offset_bytes"], 28'000'000);
  }
}

TEST_F(MpiTransferPhase, SyncEverySyncsExactlyThatOften) {
  (void)run({{"transfer_bytes", 4 * kib},
             {"block_bytes", 64 * kib},
             {"sync", std::string("every")},
             {"sync_every", 1},
             {"phases", std::vector<std::string>{"write"}}});
  EXPECT_EQ(store_.syncs, 16);
  store_.syncs = 0;
  (void)run({{"transfer_bytes", 4 * kib},
             {"block_bytes", 64 * kib},
             {"sync", std::string("every")},
             {"sync_every", 5},
             {"phases", std::vector<std::string>{"write"}}});
  EXPECT_EQ(store_.syncs, 3);
}

TEST_F(MpiTransferPhase, RereadIsNotPrecededByCacheControl) {
  (void)run({{"transfer_bytes", 4 * kib},
             {"block_bytes", 64 * kib},
             {"phases", std::vector<std::string>{"write", "rewrite", "reread"}}});
  EXPECT_EQ(last_.status, PhaseStatus::ok);
  EXPECT_EQ(store_.drops, 0);
}

TEST_F(MpiTransferPhase, HolesAndShortFilesAreRefusedBeforeTheRead) {
  store_.fully_written = false;
  const auto holes = run({{"transfer_bytes", 4 * kib}, {"block_bytes", 64 * kib}});
  EXPECT_EQ(last_.status, PhaseStatus::failed);
  if (world_.root()) {
    EXPECT_NE(holes[1]["failures"][0]["text"].get<std::string>().find("holes"), std::string::npos);
  }
  store_.fully_written = true;
  store_.damage = [](std::vector<std::byte>& data) { data.resize(data.size() / 2); };
  const auto cut = run({{"transfer_bytes", 4 * kib}, {"block_bytes", 64 * kib}});
  EXPECT_EQ(last_.status, PhaseStatus::failed);
  if (world_.root()) {
    EXPECT_EQ(cut[1]["bytes"], 0) << "nothing was read";
  }
}

TEST_F(MpiTransferPhase, OneBadBitFailsThePhaseAndIsNamed) {
  store_.damage = [](std::vector<std::byte>& data) { data[40'000] ^= std::byte{1}; };
  const auto records = run({{"transfer_bytes", 4 * kib}, {"block_bytes", 64 * kib}});
  EXPECT_EQ(last_.status, PhaseStatus::failed);
  if (!world_.root()) return;
  EXPECT_EQ(records[1]["bad_blocks"], world_.size());
  const Json& failure = records[1]["failures"][0];
  EXPECT_EQ(failure["offset_bytes"], 40'000);
  EXPECT_NE(failure["expected"], failure["found"]);
  EXPECT_NE(failure["path"].get<std::string>().find("data"), std::string::npos);
}

TEST_F(MpiTransferPhase, SwappedBlocksAreFoundByTheirTags) {
  store_.damage = [](std::vector<std::byte>& data) {
    std::swap_ranges(data.begin(), data.begin() + 4096, data.begin() + 8192);
  };
  const auto records = run({{"transfer_bytes", 4 * kib}, {"block_bytes", 64 * kib}});
  EXPECT_EQ(last_.status, PhaseStatus::failed);
  if (!world_.root()) return;
  EXPECT_NE(records[1]["failures"][0]["found"].get<std::string>().find("offset 8192"), std::string::npos)
      << records[1]["failures"].dump();
}

TEST_F(MpiTransferPhase, RewriteThatDoesNothingIsStaleData) {
  int closes = 0;
  std::vector<std::byte> first;
  store_.damage = [&](std::vector<std::byte>& data) {
    if (closes++ == 0)
      first = data;
    else
      data = first;  // the rewrite never reached the file
  };
  (void)run({{"transfer_bytes", 4 * kib},
             {"block_bytes", 64 * kib},
             {"phases", std::vector<std::string>{"write", "rewrite", "read"}}});
  EXPECT_EQ(last_.status, PhaseStatus::failed);
}

TEST_F(MpiTransferPhase, MoreDataThanBuffersIsStillVerifiedWhole) {
  const auto records = run({{"transfer_bytes", 1024 * kib},
                            {"block_bytes", 40 * 1024 * kib},
                            {"order", std::string("random")},
                            {"verify", std::string("full")}});
  EXPECT_EQ(last_.status, PhaseStatus::ok);
  EXPECT_LE(buffer_.size(), 64U << 20);
  if (world_.root()) {
    EXPECT_EQ(records[1]["verified_bytes"], records[1]["bytes"]);
  }
}

int compare_words(const void* a, const void* b) {
  const auto left = *static_cast<const std::uint64_t*>(a), right = *static_cast<const std::uint64_t*>(b);
  return static_cast<int>(left > right) - static_cast<int>(left < right);
}

/// More than buffers hold, so that they are filled again: a compressor with a long window would see what comes twice.
TEST_F(MpiTransferPhase, NoWordIsWrittenTwice) {
  std::vector<std::uint64_t> words;
  store_.damage = [&](std::vector<std::byte>& data) {
    words.resize(data.size() / sizeof(std::uint64_t));
    std::memcpy(words.data(), data.data(), data.size());
  };
  (void)run({{"transfer_bytes", 64 * kib}, {"block_bytes", 320 * 64 * kib}, {"verify", std::string("full")}});
  EXPECT_EQ(last_.status, PhaseStatus::ok);
  ASSERT_EQ(words.size(), static_cast<std::size_t>(320 * 64 * kib) / sizeof(std::uint64_t));
  // Tests are compiled without optimization, which makes std::sort of millions ten times slower than the C library's.
  std::qsort(words.data(), words.size(), sizeof(std::uint64_t), compare_words);
  EXPECT_EQ(std::ranges::adjacent_find(words), words.end());
}

TEST_F(MpiTransferPhase, ReadAfterAStonewallReadsWhatWasWritten) {
  const auto records = run({{"transfer_bytes", 4 * kib},
                            {"block_bytes", 1'048'576 * kib},
                            {"stonewall_s", 0.01},
                            {"verify", std::string("full")},
                            {"order", std::string("sequential")}});
  EXPECT_EQ(last_.status, PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_LE(records[1]["bytes"], records[0]["bytes"]);
  EXPECT_LT(records[0]["bytes"], static_cast<std::uint64_t>(world_.size()) * 1'048'576 * kib);
}

TEST_F(MpiTransferPhase, SizesThatFillNoBlockOf512) {
  (void)run({{"transfer_bytes", 47008}, {"block_bytes", 47008}, {"segments", 20}, {"verify", std::string("full")}});
  EXPECT_EQ(last_.status, PhaseStatus::ok);
  (void)run({{"transfer_bytes", 8}, {"block_bytes", 800}, {"verify", std::string("full")}});
  EXPECT_EQ(last_.status, PhaseStatus::ok);
}

TEST_F(MpiTransferPhase, OrderRepeatWorksOnOneTransferOfAWholeFile) {
  const auto records = run({{"transfer_bytes", 4 * kib},
                            {"block_bytes", 4 * kib * 40'000},  // more than there are buffers
                            {"order", std::string("repeat")},
                            {"write_order", std::string("sequential")},
                            {"phases", std::vector<std::string>{"write", "rewrite", "read", "reread"}}});
  EXPECT_EQ(last_.status, PhaseStatus::ok);
  if (!world_.root()) return;
  for (const Json& record : records) EXPECT_EQ(record["bytes"], records[0]["bytes"]) << record.dump();
  EXPECT_EQ(records[1]["operations"], 40'000 * world_.size());
  EXPECT_GT(records[2]["verified_bytes"], 0U);
}

TEST_F(MpiTransferPhase, RepeatedTransferIsWrittenAndReadWhereItLies) {
  int closes = 0;
  store_.damage = [&](std::vector<std::byte>& data) {
    if (++closes == 2) data[100] ^= std::byte{1};  // by the rewrite: in its transfer
    if (closes == 1) data[5000] ^= std::byte{1};   // elsewhere: not seen by reads of the first transfer
  };
  const auto records = run({{"transfer_bytes", 4 * kib},
                            {"block_bytes", 64 * kib},
                            {"order", std::string("repeat")},
                            {"write_order", std::string("sequential")},
                            {"phases", std::vector<std::string>{"write", "read", "rewrite", "reread"}}});
  EXPECT_EQ(last_.status, PhaseStatus::failed);
  if (!world_.root()) return;
  EXPECT_EQ(records[1]["status"], "ok");
  EXPECT_EQ(records[3]["bad_blocks"], 16 * world_.size()) << "each of 16 reads found it";
}

TEST_F(MpiTransferPhase, RewriteLeavesDataThatEveryOrderVerifies) {
  for (const char* order : {"random", "backward", "strided"}) {
    (void)run({{"transfer_bytes", 4 * kib},
               {"block_bytes", 256 * kib},
               {"order", std::string(order)},
               {"write_order", std::string("sequential")},
               {"verify", std::string("full")},
               {"phases", std::vector<std::string>{"write", "read", "rewrite", "reread"}}});
    EXPECT_EQ(last_.status, PhaseStatus::ok) << order;
  }
}

TEST_F(MpiTransferPhase, MixedPhaseReadsAndWritesWhatIsThere) {
  const auto records = run({{"transfer_bytes", 4 * kib},
                            {"block_bytes", 4000 * kib},
                            {"read_share", 0.7},
                            {"verify", std::string("full")},
                            {"phases", std::vector<std::string>{"write", "rewrite", "mixed", "reread"}}});
  EXPECT_EQ(last_.status, PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(records[2]["phase"], "mixed");
  EXPECT_EQ(records[2]["counters"]["reads"], 700 * world_.size());
  EXPECT_EQ(records[2]["counters"]["writes"], 300 * world_.size());
  EXPECT_EQ(records[3]["verified_bytes"], 4000 * kib * world_.size());
}

TEST_F(MpiTransferPhase, MixedPhaseSyncsAsAsked) {
  for (const char* sync : {"none", "close"}) {
    store_.syncs = 0;
    (void)run({{"transfer_bytes", 4 * kib},
               {"block_bytes", 64 * kib},
               {"sync", std::string(sync)},
               {"phases", std::vector<std::string>{"write", "mixed"}}});
    EXPECT_EQ(last_.status, PhaseStatus::ok);
    EXPECT_EQ(store_.syncs, std::string(sync) == "close" ? 2 : 0);
  }
}

}  // namespace ullage::transfer_phase_test
