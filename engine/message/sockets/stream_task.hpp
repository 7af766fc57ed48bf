// SPDX-License-Identifier: Apache-2.0
// What one thread does at one end of one stream, what it and the thread that started it tell each other, and the time
// in which they are measured.
#pragma once

#include <atomic>
#include <cstring>
#include <ctime>
#include <map>

#include "base/clock.hpp"
#include "base/histogram.hpp"
#include "base/meter.hpp"
#include "base/permutation.hpp"
#include "base/pinned.hpp"
#include "base/result.hpp"
#include "base/std.hpp"

namespace ullage {

/// warming: nothing counts yet · measuring · ending: whoever sends of its own accord sends no more · over: nothing
/// comes any more.
enum class Stage : int { warming, measuring, ending, over };

/// The stage a run is in, which tasks look at between two calls.
class StageSign final {
 public:
  void set(Stage stage) noexcept { stage_.store(stage, std::memory_order_relaxed); }
  [[nodiscard]] Stage get() const noexcept { return stage_.load(std::memory_order_relaxed); }

 private:
  std::atomic<Stage> stage_ = Stage::warming;
};

/// Bytes so far: one thread adds, any may look.
class alignas(128) Tally final {
 public:
  void set(std::uint64_t bytes) noexcept { bytes_.store(bytes, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> bytes_ = 0;
};

class StreamTask : public Interface {
 public:
  /// Runs until the stage says so, or the peer has said that nothing more comes. Called once, on the task's own thread.
  [[nodiscard]] virtual Status run(const StageSign& stage) = 0;
  /// Ends every wait of run(); from any thread.
  virtual void wake() = 0;
  /// Bytes that arrived here, or where nothing arrives those that were sent.
  [[nodiscard]] const Tally& tally() const { return tally_; }

  /// After run() has returned. Counts have the same names on all ranks of a case, whatever they do in it.
  virtual void count(std::map<std::string, std::uint64_t>& counters) const = 0;
  virtual void measure(std::map<std::string, double>& gauges) const { (void)gauges; }
  /// Returns how long the measured operations took; null: it has none.
  [[nodiscard]] virtual const Histogram* latencies() const { return nullptr; }
  /// All bytes since the stream began: of a sender and of its receiver they must be the same; 0: nobody asks.
  [[nodiscard]] virtual std::uint64_t total_bytes() const { return 0; }

 protected:
  Tally tally_;
};

/// One that asks and waits for the answer, over and over.
class AskingTask : public StreamTask {
 public:
  void count(std::map<std::string, std::uint64_t>& counters) const final {
    counters["round_trips"] += measured_;
    counters["expected"] += measured_ + lost_;
    counters["lost"] += lost_;
    counters["late"] += late_;
  }
  [[nodiscard]] const Histogram* latencies() const final { return &latencies_; }

 protected:
  enum class Answer { right, lost, ended };

  /// Counts what came of a request of so many bytes, where requests of this stage count.
  void add(Stage at, Answer answer, std::int64_t took_ns, std::size_t bytes) noexcept {
    if (at != Stage::measuring) return;
    if (answer == Answer::lost) ++lost_;
    if (answer != Answer::right) return;
    latencies_.add(took_ns);
    tally_.set(++measured_ * bytes);
  }

  std::uint64_t late_ = 0;  // answers to requests that were given up

 private:
  Histogram latencies_;
  std::uint64_t measured_ = 0;
  std::uint64_t lost_ = 0;
};

/// The bytes of a block: no two runs, ranks or streams have the same.
[[nodiscard]] inline std::vector<std::byte> keyed_block(std::uint64_t key, std::uint64_t rank, std::uint64_t stream,
                                                        std::size_t bytes) {
  std::vector<std::byte> block(bytes);
  const std::uint64_t own = mix64(mix64(key ^ rank) + stream);
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = mix64(own + at);
    std::memcpy(block.data() + at, &word, std::min(sizeof word, bytes - at));
  }
  return block;
}

/// Checks pieces of a stream that repeats one block.
class BlockCheck final {
 public:
  explicit BlockCheck(std::vector<std::byte> block) : block_(std::move(block)) {}

  /// `offset`: of the piece in the stream.
  void check(std::uint64_t offset, std::span<const std::byte> piece) {
    while (!piece.empty()) {
      const auto at = static_cast<std::size_t>(offset % block_.size());
      const std::size_t length = std::min(piece.size(), block_.size() - at);
      bad_pieces_ += std::memcmp(piece.data(), block_.data() + at, length) != 0 ? 1 : 0;
      checked_bytes_ += length;
      offset += length;
      piece = piece.subspan(length);
    }
  }

  [[nodiscard]] std::uint64_t checked_bytes() const { return checked_bytes_; }
  [[nodiscard]] std::uint64_t bad_pieces() const { return bad_pieces_; }
  [[nodiscard]] std::size_t block_bytes() const { return block_.size(); }

 private:
  std::vector<std::byte> block_;
  std::uint64_t checked_bytes_ = 0;
  std::uint64_t bad_pieces_ = 0;
};

inline std::int64_t own_process_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// The time that counts, on this rank's clock: what the tasks did in it, and what that cost its process.
class MeasuredWindow final {
 public:
  /// `block_bytes`: of a message. The tasks outlive it; those of a rank that measures nothing are none.
  MeasuredWindow(std::span<const std::unique_ptr<StreamTask>> tasks, std::uint64_t block_bytes)
      : tasks_(tasks), block_bytes_(block_bytes) {}

  void begin() {
    cpu_begin_ns_ = own_process_ns();
    begin_bytes_ = end_bytes_ = sum();
    begin_ns_ = end_ns_ = now_ns();
  }

  /// Counts what was done since the call before, as operations of the meter without latencies.
  void look(Meter& meter) {
    const std::uint64_t messages = (sum() - begin_bytes_) / block_bytes_;
    (void)meter.completed_many(messages - told_messages_, (messages - told_messages_) * block_bytes_);
    told_messages_ = messages;
    meter.report_alive();
  }

  void end(Meter& meter) {
    end_bytes_ = sum();
    end_ns_ = now_ns();
    cpu_end_ns_ = own_process_ns();
    look(meter);
  }

  /// Adds what tasks that count nothing outside the window did between its end and their own.
  void add_rest(Meter& meter) { look(meter); }

  [[nodiscard]] double seconds() const { return static_cast<double>(end_ns_ - begin_ns_) * 1e-9; }
  [[nodiscard]] double cpu_seconds() const { return static_cast<double>(cpu_end_ns_ - cpu_begin_ns_) * 1e-9; }
  [[nodiscard]] std::uint64_t bytes() const { return end_bytes_ - begin_bytes_; }

 private:
  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t bytes = 0;
    for (const auto& task : tasks_) bytes += task->tally().bytes();
    return bytes;
  }

  std::span<const std::unique_ptr<StreamTask>> tasks_;
  std::uint64_t block_bytes_;
  std::uint64_t begin_bytes_ = 0;
  std::uint64_t end_bytes_ = 0;
  std::uint64_t told_messages_ = 0;
  std::int64_t begin_ns_ = 0;
  std::int64_t end_ns_ = 0;
  std::int64_t cpu_begin_ns_ = 0;
  std::int64_t cpu_end_ns_ = 0;
};

}  // namespace ullage
