// SPDX-License-Identifier: Apache-2.0
#include "storage/io_ring.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#if __has_include(<linux/io_uring.h>) && defined(SYS_io_uring_setup)

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include <atomic>
#include <bitset>

namespace ullage {
namespace {

constexpr std::size_t most_files = 16;
constexpr std::size_t piece_bytes = std::size_t{1} << 30;  // the most that one registered buffer may have
// When more than two requests come at once, the kernel keeps the first from the device until the last is made (its
// plug).
constexpr unsigned most_at_once = 2;

// They are given by number: the headers of an older system do not have all of them, the kernel may all the same.
constexpr unsigned setup_clamp = 1U << 4;
constexpr unsigned setup_cooperative = 1U << 8;
constexpr unsigned setup_single_issuer = 1U << 12;
constexpr unsigned setup_deferred = 1U << 13;

int setup(unsigned entries, io_uring_params& parameters) {
  return static_cast<int>(syscall(SYS_io_uring_setup, entries, &parameters));
}

int enroll(int ring, unsigned operation, const void* argument, unsigned count) {
  return static_cast<int>(syscall(SYS_io_uring_register, ring, operation, argument, count));
}

/// Memory that the kernel shares with us.
class Mapping final {
 public:
  Mapping() = default;
  Mapping(int ring, std::size_t bytes, off_t what)
      : data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, what)), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept : data_(std::exchange(other.data_, MAP_FAILED)), bytes_(other.bytes_) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (data_ != MAP_FAILED) munmap(data_, bytes_);
  }
  [[nodiscard]] bool good() const { return data_ != MAP_FAILED; }
  template <class T>
  [[nodiscard]] T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(data_) + offset);
  }

 private:
  void* data_ = MAP_FAILED;
  std::size_t bytes_ = 0;
};

/// The cheapest way of completing that this kernel has: no interrupt of our own thread while it works.
OrErrno<Descriptor> setup_best(unsigned depth, io_uring_params& parameters) {
  int code = 0;
  for (const unsigned flags : {setup_single_issuer | setup_deferred, setup_cooperative, 0U}) {
    parameters = {};
    parameters.flags = setup_clamp | flags;
    const int ring = setup(depth, parameters);
    if (ring >= 0) return Descriptor(ring);
    code = errno;
    if (code != EINVAL) break;
  }
  return std::unexpected(code);
}

}  // namespace

struct IoRing::State {
  Descriptor ring;
  Mapping queues;
  Mapping entries;
  unsigned* submit_tail = nullptr;
  unsigned submit_mask = 0;
  unsigned* complete_head = nullptr;
  unsigned* complete_tail = nullptr;
  unsigned complete_mask = 0;
  const io_uring_cqe* completions = nullptr;
  io_uring_sqe* requests = nullptr;
  unsigned tail = 0;    // of what is queued
  unsigned queued = 0;  // and not handed over
  std::array<int, most_files> files{};
  std::bitset<most_files> used;
  std::span<std::byte> kept;

  [[nodiscard]] OrErrno<void> map(const io_uring_params& parameters);
  /// `asks`: for completions, without waiting for more than are said.
  [[nodiscard]] OrErrno<void> enter(unsigned completions_to_wait_for, bool asks);
  [[nodiscard]] std::optional<std::uint16_t> piece_of(const IoRequest& request, std::size_t length) const;
};

OrErrno<void> IoRing::State::map(const io_uring_params& parameters) {
  if ((parameters.features & IORING_FEAT_SINGLE_MMAP) == 0) return std::unexpected(ENOSYS);  // before Linux 5.4
  const std::size_t submit_bytes = parameters.sq_off.array + parameters.sq_entries * sizeof(unsigned);
  const std::size_t complete_bytes = parameters.cq_off.cqes + parameters.cq_entries * sizeof(io_uring_cqe);
  queues = Mapping(ring.get(), std::max(submit_bytes, complete_bytes), IORING_OFF_SQ_RING);
  entries = Mapping(ring.get(), parameters.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES);
  if (!queues.good() || !entries.good()) return std::unexpected(errno);
  submit_tail = queues.at<unsigned>(parameters.sq_off.tail);
  submit_mask = parameters.sq_entries - 1;
  complete_head = queues.at<unsigned>(parameters.cq_off.head);
  complete_tail = queues.at<unsigned>(parameters.cq_off.tail);
  complete_mask = parameters.cq_entries - 1;
  completions = queues.at<io_uring_cqe>(parameters.cq_off.cqes);
  requests = entries.at<io_uring_sqe>(0);
  tail = *submit_tail;
  auto* order = queues.at<unsigned>(parameters.sq_off.array);
  for (unsigned i = 0; i < parameters.sq_entries; ++i) order[i] = i;
  files.fill(-1);
  if (enroll(ring.get(), IORING_REGISTER_FILES, files.data(), most_files) != 0) return std::unexpected(errno);
  return {};
}

/// The registered piece of memory that a request lies in, if it lies in one.
std::optional<std::uint16_t> IoRing::State::piece_of(const IoRequest& request, std::size_t length) const {
  if (request.data < kept.data() || request.data + length > kept.data() + kept.size()) return std::nullopt;
  const auto begin = static_cast<std::size_t>(request.data - kept.data());
  if (length == 0 || begin / piece_bytes != (begin + length - 1) / piece_bytes) return std::nullopt;
  return static_cast<std::uint16_t>(begin / piece_bytes);
}

OrErrno<IoRing> IoRing::make(unsigned depth) {
  io_uring_params parameters{};
  auto ring = setup_best(depth, parameters);
  if (!ring) return std::unexpected(ring.error());
  auto state = std::make_unique<State>();
  state->ring = std::move(*ring);
  if (const auto mapped = state->map(parameters); !mapped) return std::unexpected(mapped.error());
  return IoRing(std::move(state));
}

std::optional<std::string> IoRing::missing() {
  const auto ring = make(1);
  if (ring) return std::nullopt;
  if (ring.error() == ENOSYS) return "this kernel has no io_uring";
  if (ring.error() == EPERM || ring.error() == EACCES)
    return "io_uring is forbidden here (sysctl kernel.io_uring_disabled, or a container's filter)";
  return "io_uring_setup: " + std::string(std::strerror(ring.error()));
}

OrErrno<void> IoRing::register_buffers(std::span<std::byte> memory) {
  unregister_buffers();
  std::vector<iovec> pieces;
  for (std::span<std::byte> rest = memory; !rest.empty(); rest = rest.subspan(pieces.back().iov_len))
    pieces.push_back({rest.data(), std::min(rest.size(), piece_bytes)});
  if (pieces.empty()) return {};
  if (enroll(state_->ring.get(), IORING_REGISTER_BUFFERS, pieces.data(), static_cast<unsigned>(pieces.size())) != 0)
    return std::unexpected(errno);
  state_->kept = memory;
  return {};
}

void IoRing::unregister_buffers() {
  if (state_->kept.empty()) return;
  enroll(state_->ring.get(), IORING_UNREGISTER_BUFFERS, nullptr, 0);
  state_->kept = {};
}

OrErrno<unsigned> IoRing::register_file(int fd) {
  for (unsigned file = 0; file < most_files; ++file) {
    if (state_->used[file]) continue;
    const io_uring_files_update update{.offset = file, .resv = 0, .fds = reinterpret_cast<std::uint64_t>(&fd)};
    if (enroll(state_->ring.get(), IORING_REGISTER_FILES_UPDATE, &update, 1) != 1) return std::unexpected(errno);
    state_->used[file] = true;
    return file;
  }
  return std::unexpected(ENFILE);
}

void IoRing::unregister_file(unsigned file) {
  const int none = -1;
  const io_uring_files_update update{.offset = file, .resv = 0, .fds = reinterpret_cast<std::uint64_t>(&none)};
  enroll(state_->ring.get(), IORING_REGISTER_FILES_UPDATE, &update, 1);
  state_->used[file] = false;
}

OrErrno<void> IoRing::queue(unsigned file, const IoRequest& request) {
  const std::size_t length = std::min(request.length_bytes, piece_bytes);
  const auto piece = state_->piece_of(request, length);
  io_uring_sqe& entry = state_->requests[state_->tail & state_->submit_mask];
  entry = {};
  if (piece) {
    entry.opcode = request.write ? IORING_OP_WRITE_FIXED : IORING_OP_READ_FIXED;
    entry.buf_index = *piece;
  } else {
    entry.opcode = request.write ? IORING_OP_WRITE : IORING_OP_READ;
  }
  entry.flags = IOSQE_FIXED_FILE;
  entry.fd = static_cast<int>(file);
  entry.off = request.offset_bytes;
  entry.addr = reinterpret_cast<std::uint64_t>(request.data);
  entry.len = static_cast<unsigned>(length);
  entry.user_data = request.tag;
  ++state_->tail;
  return ++state_->queued < most_at_once ? OrErrno<void>{} : state_->enter(0, false);
}

std::optional<std::uint64_t> IoRing::take_back() {
  if (state_->queued == 0) return std::nullopt;
  --state_->queued;
  std::atomic_ref(*state_->submit_tail).store(--state_->tail, std::memory_order_release);
  return state_->requests[state_->tail & state_->submit_mask].user_data;
}

OrErrno<void> IoRing::submit() { return state_->queued == 0 ? OrErrno<void>{} : state_->enter(0, false); }

OrErrno<void> IoRing::poll() { return state_->enter(0, true); }

OrErrno<void> IoRing::State::enter(unsigned completions_to_wait_for, bool asks) {
  std::atomic_ref(*submit_tail).store(tail, std::memory_order_release);
  const unsigned flags = asks ? IORING_ENTER_GETEVENTS : 0U;
  const long taken = syscall(SYS_io_uring_enter, ring.get(), queued, completions_to_wait_for, flags, nullptr, 0);
  if (taken >= 0) queued -= static_cast<unsigned>(taken);
  // EAGAIN and EBUSY: the kernel is short of memory or of room for completions; what is under way makes some.
  if (taken < 0 && errno != EINTR && errno != EAGAIN && errno != EBUSY) return std::unexpected(errno);
  return {};
}

OrErrno<void> IoRing::wait() {
  do {
    if (const auto entered = state_->enter(1, true); !entered) return entered;
  } while (*state_->complete_head == std::atomic_ref(*state_->complete_tail).load(std::memory_order_acquire));
  return {};
}

std::optional<IoCompletion> IoRing::next_completion() {
  const unsigned head = *state_->complete_head;
  if (head == std::atomic_ref(*state_->complete_tail).load(std::memory_order_acquire)) return std::nullopt;
  const io_uring_cqe& entry = state_->completions[head & state_->complete_mask];
  const IoCompletion completion{entry.user_data, entry.res};
  std::atomic_ref(*state_->complete_head).store(head + 1, std::memory_order_release);
  return completion;
}

}  // namespace ullage

#else  // a system whose headers know nothing of it

namespace ullage {

struct IoRing::State {};

OrErrno<IoRing> IoRing::make(unsigned) { return std::unexpected(ENOSYS); }
std::optional<std::string> IoRing::missing() { return "built on a system without linux/io_uring.h"; }
OrErrno<void> IoRing::register_buffers(std::span<std::byte>) { return std::unexpected(ENOSYS); }
void IoRing::unregister_buffers() {}
OrErrno<unsigned> IoRing::register_file(int) { return std::unexpected(ENOSYS); }
void IoRing::unregister_file(unsigned) {}
OrErrno<void> IoRing::queue(unsigned, const IoRequest&) { return std::unexpected(ENOSYS); }
std::optional<std::uint64_t> IoRing::take_back() { return std::nullopt; }
OrErrno<void> IoRing::submit() { return std::unexpected(ENOSYS); }
OrErrno<void> IoRing::poll() { return std::unexpected(ENOSYS); }
OrErrno<void> IoRing::wait() { return std::unexpected(ENOSYS); }
std::optional<IoCompletion> IoRing::next_completion() { return std::nullopt; }

}  // namespace ullage

#endif

namespace ullage {

IoRing::IoRing(std::unique_ptr<State> state) : state_(std::move(state)) {}
IoRing::IoRing(IoRing&&) noexcept = default;
IoRing& IoRing::operator=(IoRing&&) noexcept = default;
IoRing::~IoRing() = default;

}  // namespace ullage
