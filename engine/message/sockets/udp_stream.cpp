// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/udp_stream.hpp"

#include <netinet/in.h>
#include <netinet/udp.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>

#include "base/clock.hpp"

namespace ullage {
namespace {

/// RFC 3550's gain.
constexpr double jitter_gain = 1.0 / 16;

/// These are the most that one call may hand over: a datagram's worth of bytes, and as many pieces as every kernel
/// since 4.18 takes.
constexpr std::size_t largest_piece = 65507;
constexpr std::size_t most_datagrams = 64;
constexpr std::size_t joined_place_bytes = 65536;
constexpr std::size_t joined_places = 4;
/// Datagrams of a call together have no more bytes than this, as far as one of them has not: they stay in a cache.
constexpr std::size_t most_bytes_a_send = 1 << 18;
constexpr std::size_t control_bytes = CMSG_SPACE(sizeof(int));
constexpr std::uint64_t datagrams_checked_at_first = 64;
/// Below this sleeping would take longer than what is slept for.
constexpr std::int64_t shortest_sleep_ns = 100'000;
constexpr std::int64_t sleeps_short_by_ns = 60'000;

struct DatagramHeader {
  std::uint64_t number = 0;
  std::int64_t sent_ns = 0;
};
static_assert(sizeof(DatagramHeader) == datagram_header_bytes);

std::size_t datagrams_of(DatagramBatch batch, std::size_t block_bytes) {
  switch (batch) {
    case DatagramBatch::gso:
      return std::clamp<std::size_t>(largest_piece / block_bytes, 1, most_datagrams);
    case DatagramBatch::many:
      return std::clamp<std::size_t>(most_bytes_a_send / block_bytes, 1, most_datagrams);
    case DatagramBatch::single:
      break;
  }
  return 1;
}

/// Nobody listens, or a queue is full: what was handed over is lost, and the next may not be.
bool is_loss(int error) { return error == ECONNREFUSED || error == ENOBUFS || error == EAGAIN || error == EINTR; }

}  // namespace

std::uint64_t SequenceAccount::Totals::lost_since(const Totals& before) const {
  const std::uint64_t expected = next - before.next;
  const std::uint64_t came = received - before.received - (duplicates - before.duplicates);
  // What was missing before and came since makes it less than none.
  return expected > came ? expected - came : 0;
}

void SequenceAccount::add_out_of_turn(std::uint64_t number) noexcept {
  if (number > totals_.next) {
    const std::uint64_t skipped = std::min(number - totals_.next, remembered);
    for (std::uint64_t i = 1; i <= skipped; ++i) clear(number - i);
    set(number);
    totals_.next = number + 1;
    return;
  }
  if (totals_.next - number <= remembered && has(number)) {
    ++totals_.duplicates;
    return;
  }
  if (totals_.next - number <= remembered) set(number);
  ++totals_.reordered;
}

void SequenceAccount::arrived(std::int64_t sent_ns, std::int64_t received_ns) noexcept {
  const std::int64_t transit = received_ns - sent_ns;
  if (has_transit_) {
    const auto change = static_cast<double>(std::abs(transit - last_transit_ns_));
    jitter_ns_ += (change - jitter_ns_) * jitter_gain;
  }
  last_transit_ns_ = transit;
  has_transit_ = true;
}

UdpSender::UdpSender(const Socket& socket, const std::vector<std::byte>& block, const SocketsParameters& p)
    : socket_(socket), block_bytes_(block.size()), batch_(p.rate > 0 ? DatagramBatch::single : p.batch) {
  if (p.rate > 0) interval_ns_ = static_cast<double>(block_bytes_) / p.rate * 1e9;
  datagrams_ = datagrams_of(batch_, block_bytes_);
  if (batch_ == DatagramBatch::gso) {
    const auto piece = static_cast<int>(block_bytes_);
    if (datagrams_ < 2 || !socket.set_option(SOL_UDP, UDP_SEGMENT, piece)) batch_ = DatagramBatch::many;
    datagrams_ = datagrams_of(batch_, block_bytes_);
  }
  bytes_.reserve(datagrams_ * block_bytes_);
  for (std::size_t i = 0; i < datagrams_; ++i) bytes_.insert(bytes_.end(), block.begin(), block.end());
}

Status UdpSender::run(const StageSign& stage) {
  places_.resize(datagrams_);
  messages_.resize(datagrams_);
  for (std::size_t i = 0; i < datagrams_; ++i) {
    places_[i] = {bytes_.data() + i * block_bytes_, block_bytes_};
    messages_[i].msg_hdr.msg_iov = &places_[i];
    messages_[i].msg_hdr.msg_iovlen = 1;
  }
  turn_ns_ = static_cast<double>(now_ns());
  while (stage.get() < Stage::ending) {
    if (interval_ns_ > 0) wait_for_turn();
    number(now_ns());
    const auto taken = hand_over();
    if (!taken) return fail(taken.error());
    // Numbers of what the kernel has refused are not used again: that is lost as well.
    sent_ += datagrams_;
    refused_ += datagrams_ - *taken;
    tally_.set(sent_ * block_bytes_);
  }
  return {};
}

void UdpSender::number(std::int64_t now) noexcept {
  for (std::size_t i = 0; i < datagrams_; ++i) {
    const DatagramHeader header{sent_ + i, now};
    std::memcpy(bytes_.data() + i * block_bytes_, &header, sizeof header);
  }
}

Result<std::size_t> UdpSender::hand_over() {
  return batch_ == DatagramBatch::gso ? hand_over_piece() : hand_over_many();
}

Result<std::size_t> UdpSender::hand_over_piece() {
  const ssize_t done = ::send(socket_.get(), bytes_.data(), datagrams_ * block_bytes_, MSG_NOSIGNAL);
  if (done >= 0) return datagrams_;
  if (is_loss(errno)) return 0;
  // The piece's datagrams are too large for the link, or the device cannot cut: not known before it is tried.
  if (errno == EINVAL || errno == EMSGSIZE || errno == EIO || errno == EOPNOTSUPP) {
    use_many();
    return hand_over_many();
  }
  return socket_failure("send", "udp stream");
}

void UdpSender::use_many() {
  (void)socket_.set_option(SOL_UDP, UDP_SEGMENT, 0);
  batch_ = DatagramBatch::many;
}

Result<std::size_t> UdpSender::hand_over_many() {
  std::size_t taken = 0;
  while (taken < datagrams_) {
    const int done =
        sendmmsg(socket_.get(), messages_.data() + taken, static_cast<unsigned>(datagrams_ - taken), MSG_NOSIGNAL);
    if (done < 0) {
      if (is_loss(errno)) break;
      return socket_failure("send", "udp stream");
    }
    taken += static_cast<std::size_t>(done);
  }
  return taken;
}

/// A turn that was missed is made up for: the rate holds on average.
void UdpSender::wait_for_turn() noexcept {
  turn_ns_ += interval_ns_;
  const auto turn = static_cast<std::int64_t>(turn_ns_);
  for (std::int64_t left_ns = turn - now_ns(); left_ns > 0; left_ns = turn - now_ns()) {
    if (left_ns < shortest_sleep_ns) continue;
    const std::int64_t sleep_ns = left_ns - sleeps_short_by_ns;
    const timespec time{sleep_ns / 1'000'000'000, sleep_ns % 1'000'000'000};
    (void)nanosleep(&time, nullptr);
  }
}

void UdpSender::count(std::map<std::string, std::uint64_t>& counters) const {
  counters["sent_bytes"] += sent_ * block_bytes_;
  counters["refused"] += refused_;
}

UdpReceiver::UdpReceiver(const Socket& socket, std::vector<std::byte> block, const SocketsParameters& p)
    : socket_(socket), check_(std::move(block)), block_bytes_(check_.block_bytes()) {
  const bool fits = datagrams_of(DatagramBatch::gso, block_bytes_) > 1;
  together_ = p.batch == DatagramBatch::gso && fits && socket.set_option(SOL_UDP, UDP_GRO, 1).has_value();
  const auto alone = p.batch == DatagramBatch::single ? DatagramBatch::single : DatagramBatch::many;
  const std::size_t places = together_ ? joined_places : datagrams_of(alone, block_bytes_);
  place_bytes_ = together_ ? joined_place_bytes : block_bytes_ + 1;
  bytes_.resize(places * place_bytes_);
  control_.resize(places * control_bytes);
  places_.resize(places);
  messages_.resize(places);
  for (std::size_t i = 0; i < places; ++i) places_[i] = {bytes_.data() + i * place_bytes_, place_bytes_};
}

Status UdpReceiver::run(const StageSign& stage) {
  for (;;) {
    const auto came = receive();
    if (!came) return fail(came.error());
    const std::int64_t now = now_ns();
    const Stage at = stage.get();
    if (at != followed_) follow(at);
    if (*came == 0) return {};
    const bool checks =
        at != Stage::measuring && (at != Stage::warming || account_.totals().received < datagrams_checked_at_first);
    note_arrival(now);
    for (std::size_t i = 0; i < *came; ++i)
      take(messages_[i], static_cast<const std::byte*>(places_[i].iov_base), checks);
    tally_.set(received_bytes_);
  }
}

/// Notes the first datagram of the call: the others came with it.
void UdpReceiver::note_arrival(std::int64_t now) noexcept {
  if (messages_[0].msg_len < sizeof(DatagramHeader)) return;
  DatagramHeader header;
  std::memcpy(&header, places_[0].iov_base, sizeof header);
  account_.arrived(header.sent_ns, now);
}

Result<std::size_t> UdpReceiver::receive() {
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    msghdr& message = messages_[i].msg_hdr;
    message = {};
    message.msg_iov = &places_[i];
    message.msg_iovlen = 1;
    if (together_) {
      message.msg_control = control_.data() + i * control_bytes;
      message.msg_controllen = control_bytes;
    }
  }
  for (;;) {
    const int came =
        recvmmsg(socket_.get(), messages_.data(), static_cast<unsigned>(messages_.size()), MSG_WAITFORONE, nullptr);
    if (came < 0 && (errno == EINTR || errno == ECONNREFUSED)) continue;
    if (came < 0) return socket_failure("receive", "udp stream");
    // Whoever wakes us leaves an empty message behind.
    if (came == 0 || messages_[0].msg_len == 0) return 0;
    return static_cast<std::size_t>(came);
  }
}

std::size_t UdpReceiver::piece_bytes(const mmsghdr& message) const noexcept {
  if (!together_) return message.msg_len;
  msghdr header = message.msg_hdr;
  for (cmsghdr* one = CMSG_FIRSTHDR(&header); one != nullptr; one = CMSG_NXTHDR(&header, one))
    if (one->cmsg_level == SOL_UDP && one->cmsg_type == UDP_GRO) {
      int bytes = 0;
      std::memcpy(&bytes, CMSG_DATA(one), sizeof bytes);
      return static_cast<std::size_t>(bytes);
    }
  return message.msg_len;
}

void UdpReceiver::take(const mmsghdr& message, const std::byte* data, bool checks) {
  const std::size_t piece = piece_bytes(message);
  for (std::size_t at = 0; at < message.msg_len; at += piece) {
    if (std::min<std::size_t>(piece, message.msg_len - at) != block_bytes_) {
      ++malformed_;
      if (piece == 0) return;
      continue;
    }
    DatagramHeader header;
    std::memcpy(&header, data + at, sizeof header);
    account_.add(header.number);
    received_bytes_ += block_bytes_;
    if (checks && block_bytes_ > sizeof header)
      check_.check(sizeof header, {data + at + sizeof header, block_bytes_ - sizeof header});
  }
}

/// What was received in the call before belongs to the stage before.
void UdpReceiver::follow(Stage stage) noexcept {
  if (followed_ == Stage::warming) begin_ = account_.totals();
  if (followed_ < Stage::ending && stage >= Stage::ending) {
    end_ = account_.totals();
    jitter_ns_ = account_.jitter_ns();
  }
  followed_ = stage;
}

void UdpReceiver::count(std::map<std::string, std::uint64_t>& counters) const {
  counters["received_bytes"] += received_bytes_;
  counters["expected"] += end_.expected_since(begin_);
  counters["lost"] += end_.lost_since(begin_);
  counters["duplicates"] += end_.duplicates - begin_.duplicates;
  counters["reordered"] += end_.reordered - begin_.reordered;
  counters["checked_bytes"] += check_.checked_bytes();
  counters["bad_pieces"] += check_.bad_pieces() + malformed_;
}

void UdpReceiver::measure(std::map<std::string, double>& gauges) const {
  double& most = gauges["jitter_s"];
  most = std::max(most, jitter_ns_ * 1e-9);
}

}  // namespace ullage
