// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "storage/workloads/b_eff_io/run.hpp"

namespace ullage::b_eff_io_place_property_test {

constexpr std::uint64_t element = 8;

/// Patterns of one case, in elements instead of real sizes.
struct Work {
  BEffIoFileShape shape;
  std::vector<BEffIoPlace> places;
  std::vector<std::uint64_t> counts;
};

Work some_work(BEffIoType type) {
  Work work;
  work.shape.type = type;
  work.shape.shared_pointer = *rc::gen::arbitrary<bool>();
  work.shape.ranks = *rc::gen::inRange<std::uint64_t>(1, 6);
  std::uint64_t displacement = 0;
  for (int i = 0; i < *rc::gen::inRange(1, 5); ++i) {
    const std::uint64_t chunk = element * *rc::gen::inRange<std::uint64_t>(1, 6);
    const std::uint64_t chunks = type == BEffIoType::scatter ? *rc::gen::inRange<std::uint64_t>(1, 5) : 1;
    work.places.push_back({work.shape, displacement, chunk, chunk * chunks});
    work.counts.push_back(*rc::gen::inRange<std::uint64_t>(1, 7));
    displacement += work.places.back().extent_bytes(work.counts.back());
  }
  if (is_segmented(type))
    for (BEffIoPlace& place : work.places) place.shape.segment_bytes = displacement;
  return work;
}

/// Counts how often each element of a file is moved by `rank`; chunk by chunk, since those are whole.
void visit(const Work& work, std::uint64_t rank, std::vector<int>& visits) {
  for (std::size_t i = 0; i < work.places.size(); ++i) {
    BEffIoPlace place = work.places[i];
    place.shape.rank = rank;
    for (std::uint64_t call = 0; call < work.counts[i]; ++call)
      for (std::uint64_t byte = 0; byte < place.call_bytes; byte += element) {
        const std::uint64_t at = place.offset_bytes(call, byte);
        RC_ASSERT(at % element == 0U);
        if (visits.size() <= at / element) visits.resize(at / element + 1);
        ++visits[at / element];
      }
  }
}

std::uint64_t file_bytes(const Work& work) {
  const BEffIoPlace& last = work.places.back();
  const std::uint64_t end = last.displacement_bytes + last.extent_bytes(work.counts.back());
  return is_segmented(work.shape.type) ? end * work.shape.ranks : end;
}

RC_GTEST_PROP(BEffIoPlaceProperty, AllCallsOfAllRanksCoverTheFileOnce, ()) {
  const Work work = some_work(
      *rc::gen::element(BEffIoType::scatter, BEffIoType::shared, BEffIoType::segmented, BEffIoType::seg_coll));
  std::vector<int> visits;
  for (std::uint64_t rank = 0; rank < work.shape.ranks; ++rank) visit(work, rank, visits);
  RC_ASSERT(visits.size() * element == file_bytes(work));
  for (const int times : visits) RC_ASSERT(times == 1);
}

RC_GTEST_PROP(BEffIoPlaceProperty, ARanksOwnFileIsCoveredByItAlone, ()) {
  const Work work = some_work(BEffIoType::separated);
  for (std::uint64_t rank = 0; rank < work.shape.ranks; ++rank) {
    std::vector<int> visits;
    visit(work, rank, visits);
    RC_ASSERT(visits.size() * element == file_bytes(work));
    for (const int times : visits) RC_ASSERT(times == 1);
  }
}

/// Bytes are those that a rank sees through its view one after the other, as calls without an offset move them.
RC_GTEST_PROP(BEffIoPlaceProperty, AViewShowsEachCallWhereItLies, ()) {
  const Work work = some_work(*rc::gen::element(BEffIoType::scatter, BEffIoType::separated, BEffIoType::segmented));
  const std::uint64_t rank = *rc::gen::inRange<std::uint64_t>(0, work.shape.ranks);
  for (std::size_t i = 0; i < work.places.size(); ++i) {
    BEffIoPlace place = work.places[i];
    place.shape.rank = rank;
    const FileView view = place.view();
    for (std::uint64_t seen = 0; seen < work.counts[i] * place.call_bytes; seen += element) {
      std::uint64_t at = view.displacement_bytes + seen;
      if (view.chunk_bytes > 0)
        at =
            view.displacement_bytes +
            (seen / view.chunk_bytes * static_cast<std::uint64_t>(view.parts) + static_cast<std::uint64_t>(view.part)) *
                view.chunk_bytes +
            seen % view.chunk_bytes;
      RC_ASSERT(place.offset_bytes(seen / place.call_bytes, seen % place.call_bytes) == at);
    }
  }
}

BEffIoCounts some_counts() {
  BEffIoCounts counts;
  for (const BEffIoSize size : b_eff_io_counted_sizes) counts[size] = *rc::gen::inRange<std::uint64_t>(0, 5000);
  return counts;
}

RC_GTEST_PROP(BEffIoSegmentProperty, PatternsFillASegmentOfWholeMebibytes, ()) {
  constexpr std::uint64_t mib = 1 << 20;
  const std::uint64_t lmax = element * *rc::gen::inRange<std::uint64_t>(2048, 1 << 20);
  const BEffIoSegment segment = b_eff_io_segment(lmax, {some_counts(), some_counts(), some_counts()}, {});
  std::uint64_t taken = segment.fill_up_bytes;
  for (const auto& [size, count] : segment.counts)
    taken += count * b_eff_io_pattern(BEffIoType::segmented, size)->chunk_bytes(lmax);
  RC_ASSERT(taken == segment.bytes);
  RC_ASSERT(segment.bytes % mib == 0U);
  RC_ASSERT(segment.fill_up_bytes < mib);
  RC_ASSERT(segment.fill_up_bytes % element == 0U);
}

}  // namespace ullage::b_eff_io_place_property_test
