// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/phase.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/count.hpp"
#include "base/json.hpp"
#include "base/payload.hpp"
#include "base/permutation.hpp"
#include "mpi/agreement.hpp"

namespace ullage {

std::string word(SarPart part) {
  static constexpr std::array<const char*, sar_part_count> words{"open",  "transfer", "subimages",
                                                                 "write", "sync",     "close"};
  return words.at(static_cast<std::size_t>(part));
}

SarCalls::SarCalls(Backend& backend, std::vector<SarPart> parts)
    : backend_(backend), parts_(std::move(parts)), ticked_(std::make_unique<Meter>()) {
  ticked_->only_count();
  ticked_->start(ticked_->clock_ns());
}

std::vector<std::string> SarCalls::part_names() const {
  std::vector<std::string> names;
  names.reserve(parts_.size());
  for (const SarPart part : parts_) names.push_back(word(part));
  return names;
}

void SarCalls::begin(Meter& meter) noexcept {
  meter_ = &meter;
  last_ns_ = meter.last_ns();
  took_ns_.fill(0);
}

void SarCalls::took(SarPart part) noexcept {
  const std::int64_t now = meter_->clock_ns();
  took_ns_[static_cast<std::size_t>(part)] += now - last_ns_;
  last_ns_ = now;
}

Result<std::unique_ptr<File>> SarCalls::open(const OpenRequest& request) {
  auto file = backend_.open(request);
  if (file) ++files_;
  took(SarPart::open);
  return file;
}

Status SarCalls::move(File& file, Direction direction, std::span<const Extent> extents, SarPart part) {
  ticked_->resume(last_ns_);
  Status status = file.transfer(direction, extents, *ticked_);
  took(part);
  return status;
}

Status SarCalls::sync(File& file) {
  Status status = file.sync();
  took(SarPart::sync);
  return status;
}

Status SarCalls::close(File& file) {
  Status status = file.close();
  took(SarPart::close);
  return status;
}

void SarCalls::done() noexcept {
  for (std::size_t i = 0; i < parts_.size(); ++i) meter_->add_part(i, took_ns_[static_cast<std::size_t>(parts_[i])]);
}

namespace {

constexpr int next = 1;
constexpr int ranks_at_once = 1024;  // memory does not grow with the ranks

/// Collective: the number that rank `asked` gave.
std::int64_t number_of(const mpi::Comm& all, std::int64_t own, int asked) {
  std::vector<std::int64_t> numbers;
  mpi::allocate_or_throw(all, [&] { numbers.reserve(static_cast<std::size_t>(std::min(ranks_at_once, all.size()))); });
  std::int64_t found = 0;
  for (int first = 0; first < all.size(); first += ranks_at_once) {
    numbers.assign(static_cast<std::size_t>(std::min(ranks_at_once, all.size() - first)), -1);
    const auto at = [first, &numbers](int rank) {
      return rank >= first && rank - first < static_cast<int>(numbers.size())
                 ? &numbers[static_cast<std::size_t>(rank - first)]
                 : nullptr;
    };
    if (std::int64_t* const place = at(all.rank())) *place = own;
    all.max_all(numbers);
    if (const std::int64_t* const place = at(asked)) found = *place;
  }
  return found;
}

}  // namespace

SarState::SarState(const SarParameters& given, const StorageContext& bound)
    : parameters(given), context(bound), capabilities(bound.backend->capabilities()) {
  const auto ranks = static_cast<std::uint64_t>(context.world->size());
  shape = parameters.shape(ranks);
  dataset.dataset = context.dataset_name();
  dataset.directory = directory_of_dataset(context.dataset_name());
  dataset.grid = parameters.files(ranks);
  source.rank = context.world->rank();
  source_owner = rank();
}

void find_sources(SarState& state) {
  const mpi::World& world = *state.context.world;
  state.source = find_data_source(world, state.parameters.read_back, next);
  state.source_owner = static_cast<std::uint64_t>(number_of(world.all(), state.source.rank, state.source.rank));
}

namespace {

PositionContents contents_of(std::uint64_t run_key, SarData kind) {
  return PositionContents(mix64(run_key + static_cast<std::uint64_t>(kind)));
}

}  // namespace

SarContents::SarContents(std::uint64_t run_key)
    : contents_{contents_of(run_key, SarData::raw), contents_of(run_key, SarData::templates),
                contents_of(run_key, SarData::images), contents_of(run_key, SarData::records)} {}

void SarContents::fill(SarData kind, std::span<std::byte> bytes, std::uint64_t position_bytes) const {
  contents_.at(static_cast<std::size_t>(kind)).fill(bytes, position_bytes);
}

Payload::Check SarContents::check(SarData kind, std::span<const std::byte> bytes, std::uint64_t position_bytes) const {
  return contents_.at(static_cast<std::size_t>(kind)).check(bytes, position_bytes);
}

SarPhase::SarPhase(const SarState& state, SarPhaseTraits traits)
    : state_(state),
      contents_(state.context.run_key),
      calls_(*state.context.backend, traits.parts),
      traits_(std::move(traits)),
      slots_(*state.context.buffer, traits_.slot_bytes) {
  if (operations() > 0) slots_.allocate(slots_.count_in(cached_bytes, operations()), traits_.extra_bytes);
}

PhaseInfo SarPhase::info() const {
  PhaseInfo info;
  info.name = traits_.name;
  info.access = traits_.access;
  info.clock_stops = true;
  info.bytes_at_once = traits_.slot_bytes;
  info.parts = calls_.part_names();
  if (!reads()) return info;
  info.cache_control = state_.parameters.cache == SarCache::drop ? "drop" : "none";
  info.data_of = state_.source.data_of;
  return info;
}

/// Reading begins with buffers that nothing was read into.
Status SarPhase::before() {
  if (operations() == 0) return {};
  Backend& backend = *state_.context.backend;
  if (auto status = backend.make_ready(state_.context.buffer->bytes(), {}); !status) return status;
  if (!reads()) return {};
  if (verifies()) slots_.poison();
  if (state_.parameters.cache == SarCache::none) return {};
  const std::vector<std::string> files = files_read();
  for (const std::string& name : std::set<std::string>(files.begin(), files.end()))
    if (auto status = backend.drop_cached(name); !status) return status;
  return {};
}

std::uint64_t SarPhase::prepare(std::uint64_t first, std::uint64_t most) {
  first_ = first;
  in_slots_ = 0;
  prepared_ = std::min(most, slots_.count());
  for (std::uint64_t i = 0; i < prepared_; ++i) ready(first + i, static_cast<std::size_t>(i));
  return prepared_;
}

Status SarPhase::execute(Meter& meter) {
  for (std::uint64_t i = 0; i < prepared_; ++i) {
    calls_.begin(meter);
    const auto moved = operate(static_cast<std::size_t>(i));
    if (!moved) return fail(moved.error());
    calls_.done();
    ++in_slots_;
    if (!meter.completed(*moved + std::exchange(uncounted_bytes_, 0))) break;
  }
  return {};
}

void SarPhase::check_slots() {
  for (std::uint64_t i = 0; i < in_slots_; ++i) check(first_ + i, static_cast<std::size_t>(i));
}

/// The operations before the last batch, whose slots were used again.
Status SarPhase::check_again(Meter& progress) {
  if (first_ == 0) return {};
  if (auto status = open_again(); !status) return status;
  for (std::uint64_t operation = 0; operation < first_; ++operation) {
    ready(operation, 0);
    Payload::poison(slot_at(0));
    calls_.begin(progress);
    if (auto status = read_again(0); !status) return status;
    check(operation, 0);
    progress.report_alive();
  }
  return close_again();
}

void SarPhase::check_bytes(std::span<std::byte> bytes, const Place& place) {
  Payload::Check found = contents_.check(place.kind, bytes, place.position_bytes);
  if (found.first) found.first->offset_bytes += place.offset_bytes - place.position_bytes;
  add_check(verification_, bytes.size(), found,
            [&](const Mismatch& wrong) { return wrong_data(state_.context, place.name, wrong); });
}

OpenRequest SarPhase::request_of(const std::string& path, OpenMode mode, std::uint64_t bytes) const {
  OpenRequest request;
  request.name = state_.in_dataset(path);
  request.mode = mode;
  request.expected_bytes = bytes;
  return request;
}

Verification SarPhase::after(std::uint64_t /*executed*/, Meter& progress) {
  if (!verifies() || operations() == 0) return {};
  counted_ = counters();
  check_slots();
  const Status again = check_again(progress);
  if (!again && !verification_.first) verification_.first = again.error();
  return verification_;
}

Counters SarPhase::counters() const {
  if (counted_) return *counted_;
  return {{"images", images_},
          {"subimages", subimages_},
          {"files", calls_.files() + files_besides_},
          {"written_bytes", written_bytes_}};
}

void SarPhase::add_facts(Json& facts) const {
  const SarShape& shape = state_.shape;
  facts = {{"locations", shape.locations()},
           {"images", shape.images()},
           {"pairs", shape.locations() * shape.pairs_of_location()},
           {"image_bytes", shape.image_bytes()},
           {"raw_bytes", shape.raw_bytes()},
           {"group_bytes", shape.group_bytes()},
           {"layout", word(state_.parameters.layout)},
           {"raw", word_of(state_.parameters.raw)},
           {"sync", word_of(state_.parameters.sync)}};
}

}  // namespace ullage
