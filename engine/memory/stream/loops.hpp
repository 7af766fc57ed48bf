// SPDX-License-Identifier: Apache-2.0
// The loops of stream_job.hpp over vectors of any width. Included inside the target pragma of the file that makes them,
// so that they are compiled for its instruction set, and by nothing else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "memory/stream/job.hpp"

namespace ullage {

/// `Isa`, of an anonymous namespace, says how wide vectors are and how to store past the caches:
/// Vector (of double), Integers (of uint64, as wide), has_non_temporal, stream(Vector*, const Vector&), fence().
template <class Isa, StreamKind kind, Stores stores>
class StreamSweep final {
  using Vector = Isa::Vector;
  using Integers = Isa::Integers;
  struct Sum {  // since attributes of a vector are no part of a template's argument
    Integers value{};
  };
  static constexpr std::size_t width = sizeof(Vector);
  static constexpr std::size_t sums = 8;                    // a vector each, added up at the end
  static constexpr std::size_t group_bytes = sums * width;  // each sum is used once
  static constexpr std::size_t step_bytes = 512;            // unrolled: whole groups

 public:
  static std::uint64_t run(const StreamJob& given) {
    const StreamJob job = given;
    StreamSweep sweep;
    for (std::uint64_t pass = 0; pass < job.passes; ++pass) {
      if constexpr (kind == StreamKind::write || kind == StreamKind::scale || kind == StreamKind::triad)
        sweep.factor_ = Vector{} + stream_factor(job.first_pass + pass);
      for (std::size_t i = 0; i < job.blocks; ++i) {
        const std::size_t at = (job.order != nullptr ? job.order[i] : i) * job.block_bytes;
        sweep.block(job.a + at, job.b + at, job.c + at, job.block_bytes);
        for (std::uint64_t left = job.pause; left > 0; --left) asm volatile("" : "+r"(left));
      }
      if constexpr (stores == Stores::non_temporal) Isa::fence();
    }
    return sweep.total(std::make_index_sequence<sums>());
  }

 private:
  /// The compiler may neither merge passes nor take a loop for a library's copy, nor change the order of accesses
  /// but within a group: prefetchers lose the trail when it does (half the rate was seen).
  [[gnu::always_inline]] static void keep_apart() { asm volatile("" ::: "memory"); }

  [[gnu::always_inline]] void block(std::byte* a, const std::byte* b, const std::byte* c, std::size_t bytes) {
    std::size_t at = 0;
    for (; at + step_bytes <= bytes; at += step_bytes)
      for (std::size_t group = 0; group < step_bytes; group += group_bytes) {
        unrolled(a + at + group, b + at + group, c + at + group, std::make_index_sequence<group_bytes / width>());
        keep_apart();
      }
    for (; at < bytes; at += stream_line) {
      unrolled(a + at, b + at, c + at, std::make_index_sequence<stream_line / width>());
      keep_apart();
    }
  }

  template <std::size_t... i>
  [[gnu::always_inline]] void unrolled(std::byte* a, const std::byte* b, const std::byte* c,
                                       std::index_sequence<i...>) {
    (one<i>(reinterpret_cast<Vector*>(a) + i, reinterpret_cast<const Vector*>(b) + i,
            reinterpret_cast<const Vector*>(c) + i),
     ...);
  }

  template <std::size_t i>
  [[gnu::always_inline]] void one(Vector* a, const Vector* b, const Vector* c) {
    if constexpr (kind == StreamKind::read) sums_[i % sums].value += *reinterpret_cast<const Integers*>(b);
    if constexpr (kind == StreamKind::write) put(a, factor_);
    if constexpr (kind == StreamKind::copy) put(a, *b);
    if constexpr (kind == StreamKind::scale) put(a, factor_ * *b);
    if constexpr (kind == StreamKind::add) put(a, *b + *c);
    if constexpr (kind == StreamKind::triad) put(a, *b + factor_ * *c);
    if constexpr (kind == StreamKind::read_write) {
      const Integers more = *reinterpret_cast<const Integers*>(a) + 1;
      put(a, reinterpret_cast<Vector>(more));
    }
  }

  [[gnu::always_inline]] static void put(Vector* to, const Vector& value) {
    if constexpr (stores == Stores::non_temporal)
      Isa::stream(to, value);
    else
      *to = value;
  }

  /// Every sum by its constant index: one that varied would keep them all out of registers.
  template <std::size_t... i>
  [[gnu::always_inline]] std::uint64_t total(std::index_sequence<i...>) const {
    const Integers all = (sums_[i].value + ...);
    std::uint64_t sum = 0;
    for (std::size_t lane = 0; lane < width / sizeof(std::uint64_t); ++lane) sum += all[lane];
    return sum;
  }

  Vector factor_{};
  std::array<Sum, sums> sums_{};
};

template <class Isa, StreamKind kind>
constexpr std::array<StreamLoop, store_kinds> stream_loops_of_kind() {
  std::array<StreamLoop, store_kinds> loops{&StreamSweep<Isa, kind, Stores::ordinary>::run, nullptr};
  if constexpr (Isa::has_non_temporal && writes(kind)) loops[1] = &StreamSweep<Isa, kind, Stores::non_temporal>::run;
  return loops;
}

template <class Isa>
constexpr StreamLoops stream_loops_of(std::string_view name) {
  return {name,
          sizeof(typename Isa::Vector),
          {stream_loops_of_kind<Isa, StreamKind::read>(), stream_loops_of_kind<Isa, StreamKind::write>(),
           stream_loops_of_kind<Isa, StreamKind::copy>(), stream_loops_of_kind<Isa, StreamKind::scale>(),
           stream_loops_of_kind<Isa, StreamKind::add>(), stream_loops_of_kind<Isa, StreamKind::triad>(),
           stream_loops_of_kind<Isa, StreamKind::read_write>()}};
}

}  // namespace ullage
