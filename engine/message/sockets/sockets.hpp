// SPDX-License-Identifier: Apache-2.0
// TCP, UDP and ICMP between the ranks of pairs, all pairs at once.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <cerrno>
#include <ctime>

#include "base/clock.hpp"
#include "base/std.hpp"
#include "base/workers.hpp"
#include "message/sockets/icmp_echo.hpp"
#include "message/sockets/rendezvous.hpp"
#include "message/sockets/request.hpp"
#include "message/sockets/stream_task.hpp"
#include "message/sockets/tcp_stream.hpp"
#include "message/sockets/udp_stream.hpp"
#include "work/entry.hpp"
#include "work/workload.hpp"

namespace ullage {

/// So often the meter hears of what was done.
inline constexpr std::int64_t look_every_ns = 100'000'000;

/// Datagrams that are under way when the last was sent have arrived by then.
inline constexpr std::int64_t linger_ns = 20'000'000;
inline constexpr char measured_word = 'm';
inline constexpr char sent_word = 's';

inline constexpr std::array counter_names{"sent_bytes",       "received_bytes", "retransmits", "zero_copy_calls",
                                          "zero_copy_copied", "refused",        "expected",    "lost",
                                          "duplicates",       "reordered",      "late",        "round_trips",
                                          "answered",         "checked_bytes",  "bad_pieces"};

inline void sleep_to(std::int64_t time_ns) {
  const timespec time{time_ns / 1'000'000'000, time_ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

inline std::string congestion_control(const Socket& socket) {
  std::array<char, 17> name{};
  socklen_t length = name.size() - 1;
  if (getsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) != 0) return "";
  return name.data();
}

inline Error unequal(std::size_t stream, std::uint64_t sent, std::uint64_t received) {
  const std::string expected = std::to_string(sent) + " bytes sent";
  const std::string found = std::to_string(received) + " received";
  return verification_error("compare", "tcp stream " + std::to_string(stream), found + " of " + expected, expected,
                            found);
}

/// The first error of any; an error too where some had to be woken that should have ended by themselves.
inline Status join(Workers& threads, std::int64_t deadline_ns) {
  const bool in_time = threads.ended_by(deadline_ns);
  if (!in_time) threads.dismiss();
  const Status ended = threads.join();
  return ended && !in_time ? fail(errno_error(ETIMEDOUT, "end", "streams")) : ended;
}

/// Streams last a warm-up and the seconds that are measured; what counts is what arrives in these. An operation is a
/// message: a block that arrived, or a request with its answer, whose latency is in the histogram. Gauges, of every
/// rank: pairs (1 on the lower rank of each), window_s, goodput_bytes_per_s, messages_per_s (of what it receives or
/// asks), cpu_cores (processor time of its process over the window), first_cpu_cores and second_cpu_cores (the same, of
/// the lower and the higher rank of a pair), jitter_s, smoothed_round_trip_s (the kernel's own, of tcp). Counters:
/// those of the tasks. Facts are of rank 0's pair.
class SocketsPhase final : public PhaseWork {
 public:
  SocketsPhase(const SocketsParameters& parameters, const WorkloadContext& context)
      : parameters_(parameters), context_(context) {}

  [[nodiscard]] PhaseInfo info() const override {
    return {.name = stays_on_node(parameters_) ? "local" : "sockets", .collective = true};
  }

  [[nodiscard]] Status before() override {
    pairing_ = pair_up(*context_.world);
    if (!pairing_.takes_part()) return {};
    auto met = meet(context_.world->all(), pairing_, parameters_, context_.run_key);
    if (!met) return fail(met.error());
    connections_ = std::move(*met);
    if (Status made = make_tasks(); !made) return made;
    if (Status made = make_threads(passive_threads_, passive_, passive_stage_); !made) return made;
    return make_threads(active_threads_, active_, active_stage_);
  }

  [[nodiscard]] std::uint64_t operations() const override { return 1; }

  [[nodiscard]] Status execute(Meter& meter) override {
    if (!pairing_.takes_part()) return {};
    // Tasks have histograms of their own: the meter's would see what many did at once.
    meter.use_histogram(false);
    const Status done = run(meter);
    count_latencies(meter);
    return done;
  }

  [[nodiscard]] Verification after(std::uint64_t, Meter&) override {
    Verification found;
    if (!pairing_.takes_part()) return found;
    Counters counted = counters();
    found.verified_bytes = counted["checked_bytes"];
    found.bad_blocks = counted["bad_pieces"];
    if (found.bad_blocks > 0)
      found.first = verification_error("receive", "stream",
                                       std::to_string(found.bad_blocks) + " pieces differ from what was sent");
    if (!ends_itself()) return found;
    const auto sent = swap_with_peer(context_.world->all(), pairing_, totals_of(active_));
    const Status same = sent ? compare(*sent) : fail(sent.error());
    if (!same && !found.first) found.first = same.error();
    return found;
  }

  [[nodiscard]] Counters counters() const override {
    Counters counters;
    for (const char* name : counter_names) counters[name] = 0;
    for (const Tasks* tasks : {&active_, &passive_})
      for (const auto& task : *tasks) task->count(counters);
    return counters;
  }

  [[nodiscard]] Gauges gauges() const override {
    Gauges gauges{{"pairs", 0},
                  {"window_s", 0},
                  {"goodput_bytes_per_s", 0},
                  {"messages_per_s", 0},
                  {"cpu_cores", 0},
                  {"first_cpu_cores", 0},
                  {"second_cpu_cores", 0},
                  {"jitter_s", 0},
                  {"smoothed_round_trip_s", 0}};
    if (!window_ || window_->seconds() <= 0) return gauges;
    const double cores = window_->cpu_seconds() / window_->seconds();
    const double rate = static_cast<double>(window_->bytes()) / window_->seconds();
    gauges["pairs"] = pairing_.is_first ? 1 : 0;
    gauges["window_s"] = window_->seconds();
    gauges["goodput_bytes_per_s"] = rate;
    gauges["messages_per_s"] = rate / static_cast<double>(parameters_.block_bytes);
    gauges["cpu_cores"] = cores;
    gauges[pairing_.is_first ? "first_cpu_cores" : "second_cpu_cores"] = cores;
    for (const Tasks* tasks : {&active_, &passive_})
      for (const auto& task : *tasks) task->measure(gauges);
    return gauges;
  }

  void add_facts(Json& facts) const override {
    facts["between"] = context_.world->topology().nodes > 1 ? "nodes" : "ranks of one node";
    if (!connections_) return;
    facts["peer"] = pairing_.peer;
    facts["mine"] = to_json(connections_->link.mine);
    facts["theirs"] = to_json(connections_->link.theirs);
    if (!unavailable_.empty()) facts["unavailable"] = unavailable_;
    if (connections_->streams.empty()) return;
    const Socket& socket = connections_->streams.front();
    facts["send_buffer_bytes"] = socket.option(SOL_SOCKET, SO_SNDBUF).value_or(0);
    facts["receive_buffer_bytes"] = socket.option(SOL_SOCKET, SO_RCVBUF).value_or(0);
    if (parameters_.protocol == SocketProtocol::tcp) facts["congestion_control"] = congestion_control(socket);
    const auto* const sender = active_.empty() ? nullptr : dynamic_cast<const UdpSender*>(active_.front().get());
    if (sender != nullptr) facts["datagrams_by"] = word_of(sender->batch());
  }

 private:
  using Tasks = std::vector<std::unique_ptr<StreamTask>>;

  [[nodiscard]] Status make_tasks() {
    if (parameters_.mode == SocketMode::stream) {
      make_streams();
    } else if (parameters_.protocol == SocketProtocol::icmp) {
      make_echo();
    } else if (const Status made = make_requests(); !made) {
      return made;
    }
    const Tasks& measured = parameters_.mode == SocketMode::request ? active_ : passive_;  // none on the other rank
    window_ = std::make_unique<MeasuredWindow>(measured, parameters_.block_bytes);
    return {};
  }

  void make_streams() {
    const bool both = parameters_.direction == SocketDirection::both;
    for (std::size_t i = 0; i < connections_->streams.size(); ++i) {
      if (both || pairing_.is_first) active_.push_back(make_sender(i));
      if (both || !pairing_.is_first) passive_.push_back(make_receiver(i));
    }
  }

  [[nodiscard]] std::unique_ptr<StreamTask> make_sender(std::size_t stream) const {
    const Socket& socket = connections_->streams[stream];
    auto block = block_of(context_.world->rank(), stream);
    if (parameters_.protocol == SocketProtocol::udp) return std::make_unique<UdpSender>(socket, block, parameters_);
    return std::make_unique<TcpSender>(socket, std::move(block), parameters_.zero_copy);
  }

  [[nodiscard]] std::unique_ptr<StreamTask> make_receiver(std::size_t stream) const {
    const SocketsParameters& p = parameters_;
    const Socket& socket = connections_->streams[stream];
    auto block = block_of(pairing_.peer, stream);
    if (p.protocol == SocketProtocol::udp) return std::make_unique<UdpReceiver>(socket, std::move(block), p);
    const std::size_t receive_bytes = p.receive_bytes > 0 ? p.receive_bytes : p.block_bytes;
    return std::make_unique<TcpReceiver>(socket, std::move(block), receive_bytes);
  }

  [[nodiscard]] Status make_requests() {
    for (std::size_t i = 0; i < connections_->streams.size(); ++i) {
      const Socket& socket = connections_->streams[i];
      if (const Status ready = ready_for_requests(socket, parameters_, asks()); !ready) return ready;
      const MessagePath path = path_of(i);
      if (asks())
        active_.push_back(std::make_unique<RequestClient>(path, block_of(context_.world->rank(), i), parameters_));
      else
        passive_.push_back(std::make_unique<RequestServer>(path, parameters_));
    }
    return {};
  }

  [[nodiscard]] MessagePath path_of(std::size_t stream) const {
    if (connections_->pipes.empty()) return MessagePath(connections_->streams[stream]);
    const auto& [there, back] = connections_->pipes[stream];
    return asks() ? MessagePath(there.to, back.from, back.to) : MessagePath(back.to, there.from, there.to);
  }

  void make_echo() {
    if (!asks()) return;
    auto socket = open_echo_socket(parameters_.ip);
    if (!socket) {
      unavailable_ = socket.error().text;
      return;
    }
    active_.push_back(std::make_unique<IcmpEcho>(std::move(*socket), connections_->link.theirs.address,
                                                 block_of(context_.world->rank(), 0), parameters_));
  }

  [[nodiscard]] std::vector<std::byte> block_of(int rank, std::size_t stream) const {
    return keyed_block(context_.run_key, static_cast<std::uint64_t>(rank), stream, parameters_.block_bytes);
  }

  /// Says whether its streams have an end that the receiver sees, when all bytes have come.
  [[nodiscard]] bool ends_itself() const {
    return parameters_.mode == SocketMode::stream && parameters_.protocol != SocketProtocol::udp;
  }

  [[nodiscard]] bool asks() const { return parameters_.mode == SocketMode::request && pairing_.is_first; }

  /// A thread for each, which begins with execute().
  [[nodiscard]] Status make_threads(Workers& threads, const Tasks& tasks, const StageSign& stage) {
    return threads.prepare(
        tasks.size(), [&](std::size_t i) { return tasks[i]->run(stage); },
        [&] {
          for (const auto& task : tasks) task->wake();
        });
  }

  [[nodiscard]] Status run(Meter& meter) {
    const SocketsParameters& p = parameters_;
    passive_threads_.go();
    active_threads_.go();
    sleep_until(now_ns() + static_cast<std::int64_t>(p.warm_up_s * 1e9), meter);
    window_->begin();
    active_stage_.set(Stage::measuring);
    passive_stage_.set(Stage::measuring);
    sleep_until(now_ns() + static_cast<std::int64_t>(p.seconds * 1e9), meter);
    // Round trips end with the window; what goes on arriving is checked after it.
    if (p.mode == SocketMode::request) active_stage_.set(Stage::ending);
    window_->end(meter);
    passive_stage_.set(Stage::ending);
    const Status ended = end(meter);
    if (p.mode == SocketMode::request) window_->add_rest(meter);
    return ended;
  }

  void sleep_until(std::int64_t time_ns, Meter& meter) {
    for (std::int64_t now = now_ns(); now < time_ns; now = now_ns()) {
      sleep_to(std::min(time_ns, now + look_every_ns));
      if (passive_stage_.get() == Stage::measuring && now + look_every_ns < time_ns) window_->look(meter);
      meter.report_alive();
    }
  }

  /// Both have measured; then both have sent all; then nobody waits any more.
  [[nodiscard]] Status end(Meter& meter) {
    Status agreed = agree(measured_word);
    active_stage_.set(Stage::ending);
    // Without a peer nobody takes what is still being sent.
    if (!agreed) active_threads_.dismiss();
    const Status sent = join(active_threads_, patience_ends_ns());
    if (agreed) agreed = agree(sent_word);
    meter.report_alive();
    if (!agreed || !ends_itself()) {
      sleep_to(now_ns() + linger_ns);
      passive_stage_.set(Stage::over);
      passive_threads_.dismiss();
    }
    const Status received = join(passive_threads_, patience_ends_ns());
    if (!sent) return sent;
    return received ? agreed : received;
  }

  [[nodiscard]] Status agree(char word) {
    const std::int64_t deadline_ns = patience_ends_ns();
    const std::array said{static_cast<std::byte>(word)};
    std::array<std::byte, 1> heard{};
    if (const Status done = send_until(connections_->control, said, deadline_ns); !done) return done;
    return receive_until(connections_->control, heard, deadline_ns);
  }

  [[nodiscard]] std::int64_t patience_ends_ns() const {
    return now_ns() + static_cast<std::int64_t>(parameters_.patience_s * 1e9);
  }

  void count_latencies(Meter& meter) const {
    for (const auto& task : active_)
      if (const Histogram* const found = task->latencies(); found != nullptr) meter.histogram().merge(*found);
  }

  [[nodiscard]] Json totals_of(const Tasks& tasks) const {
    Json totals = Json::array();
    for (const auto& task : tasks) totals.push_back(task->total_bytes());
    return totals;
  }

  [[nodiscard]] Status compare(const Json& sent) const {
    for (std::size_t i = 0; i < passive_.size(); ++i) {
      const auto theirs = sent[i].get<std::uint64_t>();
      if (theirs != passive_[i]->total_bytes()) return fail(unequal(i, theirs, passive_[i]->total_bytes()));
    }
    return {};
  }

  SocketsParameters parameters_;
  WorkloadContext context_;
  Pairing pairing_;
  std::optional<Connections> connections_;
  std::string unavailable_;  // why nothing was measured
  Tasks active_;             // send of their own accord
  Tasks passive_;            // receive, answer
  std::unique_ptr<MeasuredWindow> window_;
  StageSign active_stage_;
  StageSign passive_stage_;
  Workers passive_threads_;  // last, with the next: they use the others
  Workers active_threads_;
};

}  // namespace ullage
