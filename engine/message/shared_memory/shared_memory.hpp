// SPDX-License-Identifier: Apache-2.0
// What a message between two ranks of a node costs at least: its bytes copied once, out of memory that the other rank
// has written, and a cache line that goes from one core to the other.
#pragma once

#include <atomic>
#include <cstring>
#include <thread>

#include "base/clock.hpp"
#include "base/count.hpp"
#include "base/json.hpp"
#include "base/std.hpp"
#include "message/call_windows.hpp"
#include "message/message_contents.hpp"
#include "message/patterns/pair_schedule.hpp"
#include "mpi/agreement.hpp"
#include "mpi/node_file.hpp"
#include "work/workload.hpp"

namespace ullage {

enum class Copiers { one, half, all };

struct SharedMemoryParameters : CallWindowParameters, MessagePages {
  Copiers copiers = Copiers::all;
  std::uint64_t message_bytes = std::uint64_t{1} << 20;
  std::uint64_t buffers = 1;

  [[nodiscard]] static Table<SharedMemoryParameters> table();
};

/// Returns the rank out of whose memory `rank` copies; -1: it copies nothing.
[[nodiscard]] constexpr int copied_rank(Copiers copiers, int rank, int ranks) {
  if (copiers == Copiers::all) return (rank + ranks - 1) % ranks;
  if (copiers == Copiers::one) return rank == ranks - 1 ? 0 : -1;
  const int half = ranks / 2;
  return rank >= half && rank < 2 * half ? rank - half : -1;
}

/// Two ranks pass a counter to and fro in a cache line by ordinary loads and stores.
class alignas(128) PassedLine final {  // two lines, since prefetchers fetch them in pairs
 public:
  static constexpr std::uint64_t trips = 64;  // of a measurement
  static constexpr std::uint64_t measurements = 8;

  /// By the rank that asks, before both begin together.
  void clear() noexcept { counter_.store(0, std::memory_order_release); }

  /// Returns the shortest time of a line one way, in s.
  [[nodiscard]] double ask() noexcept {
    std::int64_t shortest_ns = std::numeric_limits<std::int64_t>::max();
    std::uint64_t turn = 0;
    for (std::uint64_t i = 0; i < measurements; ++i) {
      const std::int64_t start = now_ns();
      for (std::uint64_t trip = 0; trip < trips; ++trip) {
        counter_.store(++turn, std::memory_order_release);
        await(++turn, i % 2 == 1);
      }
      shortest_ns = std::min(shortest_ns, now_ns() - start);
    }
    return static_cast<double>(shortest_ns) * 1e-9 / static_cast<double>(2 * trips);
  }

  void answer() noexcept {
    for (std::uint64_t turn = 1; turn < 2 * trips * measurements; turn += 2) {
      await(turn, turn / (2 * trips) % 2 == 1);
      counter_.store(turn + 1, std::memory_order_release);
    }
  }

 private:
  /// Far more looks than a line takes to arrive: the other rank has no core just now.
  static constexpr int looks_before_giving_way = 1 << 16;

  /// How soon a core looks again decides when it sees the line, and which way is best differs between machines: each is
  /// tried in turn, and the shortest time counts.
  void await(std::uint64_t number, bool pauses) const noexcept {
    for (int looks = 0; counter_.load(std::memory_order_acquire) != number; ++looks) {
      if (pauses) pause();
      if (looks >= looks_before_giving_way) std::this_thread::yield();
    }
  }

  static void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  std::atomic<std::uint64_t> counter_ = 0;
};

/// A window is one operation of the meter: all ranks write their messages anew, meet, and then copy those of another,
/// one after the other, into memory of their own. Before, every pair of ranks passes a line. Gauges, the same on all
/// ranks: least_copy_s (of one message, by the slowest rank, in the best window), least_line_s and most_line_s (one
/// way, over the pairs), copiers, message_bytes; all times 0 where ranks share no memory. Facts: pages; `unavailable`,
/// why nothing was measured.
class SharedMemoryPhase final : public PhaseWork {
 public:
  SharedMemoryPhase(const SharedMemoryParameters& parameters, const WorkloadContext& context)
      : parameters_(parameters),
        world_(*context.world),
        rank_(context.world->rank()),
        from_(copied_rank(parameters.copiers, rank_, context.world->size())),
        contents_(context.run_key, parameters.message_bytes) {
    find_room_on_node(world_, 2 * part_bytes());
  }

  [[nodiscard]] PhaseInfo info() const override { return {.name = "shared-memory", .collective = true}; }

  [[nodiscard]] Status allocate() override {
    const int nodes = world_.topology().nodes;
    if (nodes > 1) unavailable_ = "the ranks are on " + std::to_string(nodes) + " nodes, which share no memory";
    if (from_ >= 0) own_ = MessageMemory(part_bytes(), parameters_.pages);
    windows_s_.reserve(static_cast<std::size_t>(parameters_.windows));
    return {};
  }

  [[nodiscard]] Status before() override {
    if (!unavailable_.empty()) return {};
    const auto ranks = static_cast<std::uint64_t>(world_.size());
    auto file = share_node_file(world_.node(), "ullage-messages", ranks * (line_bytes + part_bytes()));
    if (!file) {
      unavailable_ = to_line(file.error());  // on all ranks
      return {};
    }
    const Status mapped = mpi::agreed_allocation(world_.all(), [&] -> Status {
      auto memory = SharedMemory::map(*file, 0, ranks * (line_bytes + part_bytes()));
      if (!memory) return fail(errno_error(memory.error(), "map", "memory of the node"));
      shared_ = std::move(*memory);
      return {};
    });
    if (!mapped) return mapped;
    pass_lines();
    contents_.fill(part_of(rank_), rank_);
    world_.all().barrier();
    calls_ = calls_of_a_window(world_.all(), parameters_, [this](std::uint64_t calls) { return copy(calls); });
    return {};
  }

  [[nodiscard]] std::uint64_t operations() const override {
    return unavailable_.empty() ? static_cast<std::uint64_t>(parameters_.windows) : 0;
  }

  /// Clears what was copied, so that what is found afterwards was copied within the time.
  [[nodiscard]] std::uint64_t prepare(std::uint64_t, std::uint64_t most) override {
    contents_.poison(own_.bytes());
    return prepared_ = most;
  }

  [[nodiscard]] Status execute(Meter& meter) override {
    for (std::uint64_t i = 0; i < prepared_; ++i) {
      contents_.fill(part_of(rank_), rank_);
      world_.all().barrier();
      meter.resume(now_ns());
      windows_s_.push_back(static_cast<double>(copy(calls_)) * 1e-9 / static_cast<double>(calls_));
      (void)meter.completed(from_ < 0 ? 0 : calls_ * parameters_.message_bytes);  // no rank stops alone
    }
    return {};
  }

  [[nodiscard]] Verification after(std::uint64_t, Meter&) override {
    world_.all().max_all(windows_s_);
    std::array lines{least_line_s_};
    world_.all().min_all(lines);
    least_line_s_ = lines[0];
    lines[0] = most_line_s_;
    world_.all().max_all(lines);
    most_line_s_ = lines[0];
    copiers_ = world_.all().sum(from_ < 0 ? 0 : 1);
    Verification found;
    const std::uint64_t copied = from_ < 0 || windows_s_.empty() ? 0 : std::min(calls_, parameters_.buffers);
    for (std::uint64_t call = 0; call < copied && !found.first; ++call) {
      found.verified_bytes += parameters_.message_bytes;
      const Status right = contents_.check(message(own_.bytes(), call), from_);
      if (right) continue;
      ++found.bad_blocks;
      found.first = right.error();
    }
    return found;
  }

  [[nodiscard]] Gauges gauges() const override {
    const auto shortest = std::ranges::min_element(windows_s_);
    return {{"least_copy_s", shortest == windows_s_.end() ? 0 : *shortest},
            {"least_line_s", most_line_s_ > 0 ? least_line_s_ : 0},
            {"most_line_s", most_line_s_},
            {"copiers", static_cast<double>(copiers_)},
            {"message_bytes", static_cast<double>(parameters_.message_bytes)}};
  }

  void add_facts(Json& facts) const override {
    facts["pages"] = pages_json(parameters_.pages, own_, {});
    if (!unavailable_.empty()) facts["unavailable"] = unavailable_;
  }

 private:
  static constexpr std::uint64_t line_bytes = 4096;  // a page: messages begin where one does
  static_assert(sizeof(PassedLine) <= line_bytes);

  [[nodiscard]] std::uint64_t place_bytes() const {
    return round_up<std::uint64_t>(parameters_.message_bytes, sizeof(std::uint64_t));
  }
  [[nodiscard]] std::uint64_t part_bytes() const {
    return round_up<std::uint64_t>(parameters_.buffers * place_bytes(), line_bytes);
  }

  [[nodiscard]] PassedLine& line_of(int rank) const {
    return *reinterpret_cast<PassedLine*>(shared_.bytes().data() + static_cast<std::uint64_t>(rank) * line_bytes);
  }

  [[nodiscard]] std::span<std::byte> part_of(int rank) const {
    const auto ranks = static_cast<std::uint64_t>(world_.size());
    return shared_.bytes().subspan(ranks * line_bytes + static_cast<std::uint64_t>(rank) * part_bytes(), part_bytes());
  }

  [[nodiscard]] std::span<std::byte> message(std::span<std::byte> part, std::uint64_t call) const {
    return part.subspan(call % parameters_.buffers * place_bytes(), parameters_.message_bytes);
  }

  /// Every pair of ranks, all pairs of a round at once.
  void pass_lines() {
    const PairSchedule schedule(world_.size(), PairConcurrency::together);
    for (std::uint64_t turn = 0; turn < schedule.turns(); ++turn) {
      const auto mine = schedule.at(turn, rank_);
      const bool asks = mine && mine->client == rank_;
      if (asks) line_of(rank_).clear();
      world_.all().barrier();
      if (asks) {
        const double line_s = line_of(rank_).ask();
        least_line_s_ = std::min(least_line_s_, line_s);
        most_line_s_ = std::max(most_line_s_, line_s);
      } else if (mine) {
        line_of(mine->client).answer();
      }
    }
  }

  /// Returns the ns that this rank took; 0 where it copies nothing.
  [[nodiscard]] std::int64_t copy(std::uint64_t calls) const {
    if (from_ < 0) return 0;
    const std::span<std::byte> theirs = part_of(from_);
    const std::span<std::byte> mine = own_.bytes();
    const std::int64_t start = now_ns();
    for (std::uint64_t call = 0; call < calls; ++call) {
      std::memcpy(message(mine, call).data(), message(theirs, call).data(), parameters_.message_bytes);
      // What was copied is looked at by somebody, for all that the compiler knows.
      asm volatile("" : : "r"(mine.data()) : "memory");
    }
    return now_ns() - start;
  }

  SharedMemoryParameters parameters_;
  const mpi::World& world_;
  int rank_;
  int from_;
  MessageContents contents_;
  MessageMemory own_;
  SharedMemory shared_;      // a line of each rank, then the messages of each; from before() on
  std::string unavailable_;  // why nothing is measured; the same on all ranks, or of each its own
  std::uint64_t calls_ = 1;
  std::uint64_t copiers_ = 0;
  std::vector<double> windows_s_;  // of one message
  double least_line_s_ = std::numeric_limits<double>::max();
  double most_line_s_ = 0;
};

}  // namespace ullage
