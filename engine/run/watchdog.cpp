// SPDX-License-Identifier: Apache-2.0
#include "run/watchdog.hpp"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <limits>

#include "base/affinity.hpp"
#include "base/clock.hpp"
#include "base/signals.hpp"
#include "mpi/waits.hpp"

namespace ullage {
namespace {

std::int64_t limit_at(double bytes_per_s, std::int64_t least_ns, std::uint64_t bytes) {
  constexpr auto most = static_cast<double>(std::numeric_limits<std::int64_t>::max()) / 2;
  const double needed = std::min(static_cast<double>(bytes) / bytes_per_s * 1e9, most);
  return std::max(least_ns, static_cast<std::int64_t>(needed));
}

}  // namespace

std::int64_t stage_limit_ns(std::int64_t least_ns, std::uint64_t bytes) {
  return limit_at(slowest_bytes_per_s, least_ns, bytes);
}

std::int64_t filling_limit_ns(std::int64_t least_ns, std::uint64_t bytes) {
  return limit_at(slowest_filled_bytes_per_s, least_ns, bytes);
}

std::int64_t flush_limit_ns(std::int64_t least_ns, std::uint64_t written_bytes, int ranks, std::uint64_t memory_bytes) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(written_bytes, static_cast<std::uint64_t>(ranks), &bytes)) bytes = memory_bytes;
  return stage_limit_ns(least_ns, memory_bytes > 0 ? std::min(bytes, memory_bytes) : bytes);
}

std::uint64_t physical_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : 0;
}

namespace {

constexpr int ticks_per_stop_look = 5;
constexpr std::int64_t ask_again_ns = 1'000'000'000;
// In a second: what polls, as threads of libraries do, takes less, and a rank with a share of a core more.
constexpr std::int64_t least_computed_ns = 20'000'000;
constexpr std::int64_t said_once = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t grace_after_stop_ns = 10'000'000'000;

std::uint64_t progress_of(const Watchdog::Work& work) {
  std::uint64_t progress = work.meter == nullptr ? 0 : work.meter->progress();
  for (const std::atomic<std::uint64_t>* counter : work.steps) progress += counter->load(std::memory_order_relaxed);
  return progress;
}

}  // namespace

Watchdog::Watchdog(Options options)
    : options_(std::move(options)), thread_([this](const std::stop_token& token) { run(token); }) {}

Watchdog::~Watchdog() = default;

void Watchdog::end() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::run(const std::stop_token& token) {
  // Where the system does not let it, it stays where the rank is.
  if (!options_.cpus.empty()) (void)keep_on(options_.cpus);
  std::mutex sleep_mutex;
  std::condition_variable_any wake;
  std::unique_lock sleep(sleep_mutex);
  for (int count = 0; !token.stop_requested(); ++count) {
    wake.wait_for(sleep, token, tick, [] { return false; });
    if (token.stop_requested()) return;
    if (options_.on_tick) options_.on_tick();
    look();
    if (count % ticks_per_stop_look == 0) look_for_stop();
  }
}

bool Watchdog::has_written_back(const Work& work) {
  if (work.write_back == nullptr) return false;
  server_ns_ = std::min(work.server_ns,
                        stage_limit_ns(0, work.write_back->pending_bytes() * static_cast<std::uint64_t>(work.nodes)));
  const std::uint64_t written = work.write_back->steps();
  return std::exchange(seen_written_, written) != written;
}

/// All threads together but this one, since it was last asked.
bool Watchdog::has_computed() noexcept {
  const std::int64_t cpu_ns = cpu_time_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_time_ns(CLOCK_THREAD_CPUTIME_ID);
  return cpu_ns - std::exchange(seen_cpu_ns_, cpu_ns) >= least_computed_ns;
}

/// Ranks of several nodes that wait for each other are seen by nobody else. Between the stages of phases a rank may
/// have to wait for as long as the slowest one works; within a stage that is no longer than a few limits of that one.
bool Watchdog::waits_for_others(const Work& work, std::int64_t now) noexcept {
  constexpr int most_limits = 10;
  const std::uint64_t waits = mpi::Waiting::steps();
  if (std::exchange(seen_waits_, waits) != waits) {
    wait_began_ns_ = now;
    return true;
  }
  const bool is_stage = work.longest_computing_ns == 0;
  return mpi::Waiting::now() && (!is_stage || now - wait_began_ns_ < most_limits * options_.limit_ns);
}

bool Watchdog::has_progressed(const Work& work, std::int64_t now) {
  const std::uint64_t turn = turn_.load(std::memory_order_relaxed);
  const bool is_new = std::exchange(seen_turn_, turn) != turn;
  if (is_new) {
    turn_began_ns_ = now;
    asked_ns_ = now;
    server_ns_ = 0;
    last_computed_ns_ = now;
    (void)has_computed();
  }
  const bool has_waited = waits_for_others(work, now);
  const std::uint64_t progress = progress_of(work);
  const bool has_moved = std::exchange(seen_progress_, progress) != progress;
  bool has_written = false;
  if (now - asked_ns_ >= ask_again_ns) {
    asked_ns_ = now;
    has_written = has_written_back(work);
    if (work.longest_computing_ns > 0 && has_computed()) last_computed_ns_ = now;
  }
  return is_new || has_waited || has_moved || has_written;
}

bool Watchdog::hangs(const Work& work, std::int64_t now, std::int64_t limit_ns) const noexcept {
  const std::int64_t silent_ns = now - last_progress_ns_;
  if (silent_ns < limit_ns) return false;
  return now - last_computed_ns_ >= limit_ns || silent_ns >= work.longest_computing_ns;
}

void Watchdog::look() {
  std::string hung;
  std::int64_t limit_ns = options_.limit_ns;
  {
    const std::scoped_lock lock(mutex_);
    const Work& work = *work_.load(std::memory_order_acquire);
    const std::int64_t now = now_ns();
    if (has_progressed(work, now)) last_progress_ns_ = now;
    if (last_progress_ns_ == said_once) return;
    limit_ns = std::max(work.limit_ns > 0 ? work.limit_ns : limit_ns, server_ns_);
    hung = work.what;
    if (work.longest_ns > 0 && now - turn_began_ns_ >= work.longest_ns) {
      limit_ns = work.longest_ns;
      hung += " (others may have written to its device)";
    } else if (!hangs(work, now, limit_ns)) {
      return;
    }
    last_progress_ns_ = said_once;
  }
  if (options_.on_hang) options_.on_hang(hung, limit_ns);
}

void Watchdog::look_for_stop() {
  if (!stop_seen_ && options_.asked_to_stop && options_.asked_to_stop()) {
    stop_seen_ = true;
    if (options_.on_stop) options_.on_stop();
  }
  if (!StopFlags::instance().requested()) return;
  if (stop_requested_ns_ == 0) stop_requested_ns_ = now_ns();
  if (now_ns() - stop_requested_ns_ > grace_after_stop_ns) StopFlags::instance().stop_now();
}

}  // namespace ullage
