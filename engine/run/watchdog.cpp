// SPDX-License-Identifier: Apache-2.0
#include "run/watchdog.hpp"

#include <unistd.h>

#include <condition_variable>
#include <limits>
#include <utility>

#include "base/clock.hpp"
#include "base/signals.hpp"

namespace ullage {
namespace {

constexpr int ticks_per_stop_file_look = 5;
constexpr std::int64_t grace_after_stop_ns = 10'000'000'000;

std::uint64_t progress_of(const Watchdog::Work& work) {
  std::uint64_t progress = work.meter == nullptr ? 0 : work.meter->progress();
  if (work.steps != nullptr) progress += work.steps->load(std::memory_order_relaxed);
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

void Watchdog::watch(std::string what, const Meter* meter, const std::atomic<std::uint64_t>* steps) {
  const std::scoped_lock lock(mutex_);
  own_ = {.what = std::move(what), .meter = meter, .steps = steps};
  watch(own_);
}

void Watchdog::rest() {
  const std::scoped_lock lock(mutex_);
  work_.store(nullptr, std::memory_order_relaxed);
}

void Watchdog::run(const std::stop_token& token) {
  std::mutex sleep_mutex;
  std::condition_variable_any wake;
  std::unique_lock sleep(sleep_mutex);
  for (int count = 0; !token.stop_requested(); ++count) {
    wake.wait_for(sleep, token, tick, [] { return false; });
    if (token.stop_requested()) return;
    if (options_.on_tick) options_.on_tick();
    look();
    if (count % ticks_per_stop_file_look == 0) look_for_stop();
  }
}

void Watchdog::look() {
  std::string hung;
  std::int64_t limit_ns = options_.limit_ns;
  {
    const std::scoped_lock lock(mutex_);
    const Work* const work = work_.load(std::memory_order_acquire);
    if (work == nullptr) return;
    const std::uint64_t turn = turn_.load(std::memory_order_relaxed);
    const std::int64_t now = now_ns();
    const std::uint64_t progress = progress_of(*work);
    if (turn != seen_turn_ || progress != seen_progress_) {
      seen_turn_ = turn;
      seen_progress_ = progress;
      last_progress_ns_ = now;
    }
    if (work->limit_ns > 0) limit_ns = work->limit_ns;
    if (now - last_progress_ns_ < limit_ns) return;
    hung = work->what;
    last_progress_ns_ = std::numeric_limits<std::int64_t>::max();  // said once
  }
  if (options_.on_hang) options_.on_hang(hung, limit_ns);
}

void Watchdog::look_for_stop() {
  if (!options_.stop_file.empty() && !stop_file_seen_ && access(options_.stop_file.c_str(), F_OK) == 0) {
    stop_file_seen_ = true;
    if (options_.on_stop_file) options_.on_stop_file();
  }
  if (!StopFlags::instance().requested()) return;
  if (stop_requested_ns_ == 0) stop_requested_ns_ = now_ns();
  if (now_ns() - stop_requested_ns_ > grace_after_stop_ns) StopFlags::instance().stop_now();
}

}  // namespace ullage
