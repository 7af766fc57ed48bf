// SPDX-License-Identifier: Apache-2.0
// io_uring(7) by its system calls: no library is needed, only the kernel.
#pragma once

#include "base/descriptor.hpp"
#include "base/std.hpp"

namespace ullage {

/// One read or write. `data` stays the caller's and must live until its completion was seen.
struct IoRequest {
  bool write = false;
  std::byte* data = nullptr;
  std::size_t length_bytes = 0;  // more than 1 GiB is done in part
  std::uint64_t offset_bytes = 0;
  std::uint64_t tag = 0;  // comes back with the completion
};

struct IoCompletion {
  std::uint64_t tag = 0;
  int result = 0;  // bytes, or minus an errno
};

/// A submission and a completion queue. Used by the thread that made it.
class IoRing final {
 public:
  /// Makes a ring for up to `depth` requests under way. An errno where the kernel has no io_uring or does not let us.
  [[nodiscard]] static OrErrno<IoRing> make(unsigned depth);
  /// Why there is none on this machine; nothing where there is.
  [[nodiscard]] static std::optional<std::string> missing();

  IoRing(IoRing&&) noexcept;
  IoRing& operator=(IoRing&&) noexcept;
  ~IoRing();

  /// Requests within this memory spare the kernel to look up and pin its pages each time. Replaces what was given
  /// before; the memory outlives its use here. ENOMEM where the limit of locked memory is too low.
  [[nodiscard]] OrErrno<void> register_buffers(std::span<std::byte> memory);
  /// The memory that was registered is so no more.
  void unregister_buffers();

  /// An open file by a number of this ring's; the descriptor stays the caller's. At most 16 at once: ENFILE.
  [[nodiscard]] OrErrno<unsigned> register_file(int fd);
  void unregister_file(unsigned file);

  /// There is room for as many as are not under way. Hands them over two by two.
  [[nodiscard]] OrErrno<void> queue(unsigned file, const IoRequest& request);
  /// The tag of the request that was queued last, which the kernel has not: it is queued no more. Nothing where the
  /// kernel has all of them.
  [[nodiscard]] std::optional<std::uint64_t> take_back();
  /// Hands over what is queued.
  [[nodiscard]] OrErrno<void> submit();
  /// Does the same, and lets the kernel say what has ended: it may wait for this call to do so.
  [[nodiscard]] OrErrno<void> poll();
  /// Hands over what is queued and waits for at least one completion.
  [[nodiscard]] OrErrno<void> wait();
  [[nodiscard]] std::optional<IoCompletion> next_completion();

 private:
  struct State;
  explicit IoRing(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ullage
