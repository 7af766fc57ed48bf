// SPDX-License-Identifier: Apache-2.0
// One phase of workload `metadata` on one rank: over items, or over the directories of the tree.
#pragma once

#include "base/count.hpp"
#include "base/hex.hpp"
#include "base/permutation.hpp"
#include "base/resources.hpp"
#include "storage/buffer_ring.hpp"
#include "storage/node_caches.hpp"
#include "storage/workloads/metadata/batch.hpp"
#include "storage/workloads/metadata/metadata.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

// Items that are named at once: as many as memory may be taken for before the timer, and in it no more than the caches
// keep.
inline constexpr std::uint64_t most_named_before = 131'072;
inline constexpr std::uint64_t most_named_within = 1024;

class MetadataPhase final : public PhaseWork {
 public:
  MetadataPhase(MetadataState& state, MetadataPhaseKind kind)
      : state_(state),
        kind_(kind),
        order_(std::max<std::uint64_t>(state.items, 1),
               mix64(state.parameters->order_seed + static_cast<std::uint64_t>(state.context->world->rank()))),
        payload_(payload_spec(state)) {
    const auto found = state.sources.find(kind);
    const DataSource source = found != state.sources.end() ? found->second : DataSource{state.context->world->rank()};
    source_ = static_cast<std::uint64_t>(source.rank);
    data_of_ = source.data_of;
  }

  [[nodiscard]] PhaseInfo info() const override {
    PhaseInfo info{.name = word(kind_), .access = Access::metadata};
    if (kind_ == MetadataPhaseKind::read && parameters().read_bytes > 0) info.access = Access::read;
    if (kind_ == MetadataPhaseKind::create && parameters().write_bytes > 0) info.access = Access::write;
    info.collective_sync = true;
    info.clock_stops = true;
    info.parts = parts_of(operation_of(kind_));
    if (is_over_items()) tell_wall(parameters(), info);
    if (!changes_names(kind_)) {
      info.cache_control = parameters().cache == DropCache::drop ? "drop" : "none";
      info.data_of = data_of_;
    }
    if (parameters().stride > 0 && strides_of(kind_) > 0 && data_of_ != "other-node")
      info.notices.push_back(
          {data_of_ == "own" ? "read-back-own" : "read-back-same-node",
           word(kind_) + (data_of_ == "own" ? ": every rank uses its own items, since there are no others"
                                            : ": ranks use items of other ranks of the same node"),
           "the caches of this node hold them; use more nodes"});
    if (verifies(MetadataVerify::timed))
      info.notices.push_back({"verified-in-time", word(kind_) + ": reads are verified within the measured time",
                              "verify full checks as much after that time"});
    return info;
  }

  [[nodiscard]] Status allocate() override {
    if (auto status = take_into(api_, state_.context->backend->make_metadata()); !status) return status;
    batch_ = std::make_unique<MetadataBatch>(*api_, state_.dataset.directory);
    names_ = std::make_unique<ItemNames>(state_.shape, source_, state_.renamed);
    new_names_ = std::make_unique<ItemNames>(state_.shape, source_, !state_.renamed);
    make_room();
    if (is_over_items() && !makes() && state_.items == 0)
      return fail(environment_error(
          word(kind_), "there are no items: phase " +
                           word(state_.shape.directories ? MetadataPhaseKind::mkdir : MetadataPhaseKind::create) +
                           " must come first"));
    if (makes() && state_.items > 0)
      return fail(environment_error(
          word(kind_), "the items exist already: phase " +
                           word(state_.shape.directories ? MetadataPhaseKind::rmdir : MetadataPhaseKind::unlink) +
                           " must come first"));
    return {};
  }

  [[nodiscard]] Status before() override {
    const mpi::World& world = *state_.context->world;
    if (!changes_names(kind_) && parameters().cache == DropCache::drop) {
      world.all().barrier();
      if (world.topology().leader()) return drop_node_caches(CachesToDrop::pages_and_names);
    }
    if (kind_ == MetadataPhaseKind::tree_remove && state_.partly_removed) {
      const Status removed = catch_resource_errors([this] -> Status {
        Leftovers leftovers;
        state_.context->folder->remove_dataset(state_.dataset, {state_.context->part, state_.context->parts, true},
                                               leftovers);
        return {};
      });
      world.all().barrier();
      return removed;
    }
    return {};
  }

  [[nodiscard]] std::uint64_t operations() const override {
    const std::uint64_t directories = state_.shape.directory_count();
    if (makes()) return parameters().items;
    if (is_over_items()) return state_.items;
    if (kind_ != MetadataPhaseKind::readdir) return has_directories_to_make() ? directories : 0;
    if (parameters().unique_directory) return directories;
    const auto part = static_cast<std::uint64_t>(state_.context->part);
    const auto parts = static_cast<std::uint64_t>(state_.context->parts);
    return directories / parts + (part < directories % parts ? 1 : 0);
  }

  /// The first call, before the timer, names as many items as it may; of those that have their names, as many are ready
  /// as have data of their own.
  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override {
    if (first < first_named_ || first >= first_named_ + items_.size()) name_items(first, most);
    if (!prepared_) return 1;
    begin_ = static_cast<std::size_t>(first - first_named_);
    count_ = static_cast<std::size_t>(std::min<std::uint64_t>(most, items_.size() - begin_));
    if (!writes_data()) return count_;
    count_ = static_cast<std::size_t>(std::min<std::uint64_t>(count_, slots()));
    for (std::uint64_t i = first; i < first + count_; ++i) payload_.fill(slot(i % slots()), source_, offset_of(i));
    return count_;
  }

  [[nodiscard]] Status execute(Meter& meter) override {
    if (!prepared_) return prepared_;
    return verifies(MetadataVerify::timed) ? read_and_check(meter) : perform(ready(), meter);
  }

  [[nodiscard]] bool wants_sync() const override {
    return changes_names(kind_) &&
           (parameters().sync == MetadataSync::directory || parameters().sync == MetadataSync::filesystem);
  }

  /// Nobody's sync may come before another rank's last item.
  [[nodiscard]] Status sync() override {
    const mpi::World& world = *state_.context->world;
    const bool by_directory = parameters().sync == MetadataSync::directory;
    (by_directory && !parameters().unique_directory ? world.all() : world.node()).barrier();
    if (by_directory) return sync_directories();
    if (!world.topology().leader()) return {};
    const auto root = batch_->directory("");
    return root ? api_->sync_file_system(*root) : fail(root.error());
  }

  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override {
    progress.start(now_ns());
    if (verifies(MetadataVerify::full)) note(catch_resource_errors([&] { return read_again(executed, progress); }));
    const mpi::Comm& all = state_.context->world->all();
    const auto mine = static_cast<std::int64_t>(executed);
    switch (kind_) {
      case MetadataPhaseKind::tree_create:
        state_.has_tree = true;
        break;
      case MetadataPhaseKind::tree_remove:
        state_.has_tree = false;
        break;
      case MetadataPhaseKind::create:
      case MetadataPhaseKind::mkdir:
        state_.items = static_cast<std::uint64_t>(all.min(mine));
        trim(executed);
        break;
      case MetadataPhaseKind::rename:
        if (all.any(executed < state_.items)) state_.partly_removed = true;
        state_.renamed = !state_.renamed;
        break;
      case MetadataPhaseKind::unlink:
      case MetadataPhaseKind::rmdir:
        if (all.any(executed < state_.items)) state_.partly_removed = true;
        state_.items = 0;
        break;
      default:
        break;
    }
    return verification_;
  }

  void add_facts(nlohmann::json& facts) const override {
    if (makes()) add_new_file_cost(*state_.context, state_.dataset, facts);
  }

 private:
  [[nodiscard]] const MetadataParameters& parameters() const { return *state_.parameters; }

  [[nodiscard]] bool is_over_items() const {
    return kind_ != MetadataPhaseKind::tree_create && kind_ != MetadataPhaseKind::tree_remove &&
           kind_ != MetadataPhaseKind::readdir;
  }

  [[nodiscard]] bool makes() const { return kind_ == MetadataPhaseKind::create || kind_ == MetadataPhaseKind::mkdir; }

  [[nodiscard]] std::size_t data_bytes() const {
    if (kind_ == MetadataPhaseKind::create) return parameters().write_bytes;
    return kind_ == MetadataPhaseKind::read ? parameters().read_bytes : 0;
  }

  /// What is written has a buffer each until it is, what is read comes into one.
  [[nodiscard]] std::uint64_t slots() const {
    return writes_data() ? std::max<std::uint64_t>(cached_bytes / payload_spec(state_).transfer_bytes, 1) : 1;
  }

  [[nodiscard]] bool writes_data() const { return kind_ == MetadataPhaseKind::create && data_bytes() > 0; }

  [[nodiscard]] bool verifies(MetadataVerify how) const {
    return kind_ == MetadataPhaseKind::read && data_bytes() > 0 && parameters().verify == how;
  }

  [[nodiscard]] std::uint64_t item_at(std::uint64_t operation) const {
    return parameters().order == ItemOrder::random && !makes() ? order_(operation) : operation;
  }

  [[nodiscard]] std::uint64_t directory_at(std::uint64_t operation) const {
    if (kind_ == MetadataPhaseKind::tree_remove) return state_.shape.directory_count() - 1 - operation;
    if (kind_ == MetadataPhaseKind::tree_create || parameters().unique_directory) return operation;
    return static_cast<std::uint64_t>(state_.context->part) +
           operation * static_cast<std::uint64_t>(state_.context->parts);
  }

  /// In a shared tree rank 0 makes and removes the directories, since each needs the one above it; all list them.
  [[nodiscard]] bool has_directories_to_make() const {
    return parameters().unique_directory || state_.context->writes_manifest;
  }

  void make_room() {
    if (data_bytes() == 0) return;
    const std::size_t needed = slots() * payload_spec(state_).transfer_bytes;
    AlignedBuffer& buffer = *state_.context->buffer;
    if (buffer.size() < needed) buffer = AlignedBuffer(needed);
  }

  void name_items(std::uint64_t first, std::uint64_t most) {
    batch_->clear();
    entered_.reset();
    prepared_ = {};
    const std::uint64_t count = std::min(most, first == 0 ? most_named_before : most_named_within);
    for (std::uint64_t i = 0; i < count && prepared_ && (i == 0 || !batch_->full()); ++i)
      prepared_ = is_over_items() ? add_item(first + i) : add_directory(first + i);
    items_ = batch_->items();
    first_named_ = first;
  }

  [[nodiscard]] Status add_item(std::uint64_t operation) {
    const std::uint64_t item = item_at(operation);
    const std::uint64_t number = state_.shape.directory_of_item(item);
    if (!entered_ || entered_->number != number) {
      const auto handle = batch_->directory(state_.shape.directory_path(source_, number));
      if (!handle) return fail(handle.error());
      entered_ = {number, *handle};
    }
    std::span<std::byte> data;
    if (data_bytes() > 0) data = slot(writes_data() ? item % slots() : 0).first(data_bytes());
    batch_->add(entered_->handle, names_->of(item),
                kind_ == MetadataPhaseKind::rename ? new_names_->of(item) : std::string_view(), data);
    return {};
  }

  [[nodiscard]] Status add_directory(std::uint64_t operation) {
    const std::string path = state_.shape.directory_path(source_, directory_at(operation));
    // A directory can only be entered once it is there: new ones are named by their path below the dataset's own.
    const auto directory = batch_->directory("");
    if (!directory) return fail(directory.error());
    batch_->add(*directory, path, "", {});
    return {};
  }

  [[nodiscard]] std::span<std::byte> slot(std::uint64_t index) {
    const std::size_t stride = payload_spec(state_).transfer_bytes;
    return state_.context->buffer->bytes().subspan(static_cast<std::size_t>(index) * stride, stride);
  }

  [[nodiscard]] std::uint64_t offset_of(std::uint64_t item) const { return item * payload_spec(state_).transfer_bytes; }
  [[nodiscard]] std::span<const MetadataItem> ready() const { return items_.subspan(begin_, count_); }

  [[nodiscard]] Status perform(std::span<const MetadataItem> items, Meter& meter) {
    return api_->perform(operation_of(kind_), items,
                         parameters().sync == MetadataSync::file && kind_ == MetadataPhaseKind::create, meter);
  }

  /// One after the other, since all are read into the same buffer.
  [[nodiscard]] Status read_and_check(Meter& meter) {
    for (std::size_t i = 0; i < count_; ++i) {
      Payload::poison(slot(0));
      if (auto status = perform(ready().subspan(i, 1), meter); !status) return status;
      check(item_at(first_named_ + begin_ + i));
      if (!meter.goes_on()) break;
    }
    return {};
  }

  /// Untimed: everything that was read, once more.
  [[nodiscard]] Status read_again(std::uint64_t executed, Meter& progress) {
    progress.use_parts(parts_of(operation_of(kind_)).size());
    Status status;
    for (std::uint64_t done = 0; status && done < executed; done += count_) {
      (void)prepare(done, executed - done);
      status = prepared_ ? read_and_check(progress) : prepared_;
    }
    return status;
  }

  void note(const Status& status) {
    if (!status && !verification_.first) verification_.first = status.error();
  }

  void check(std::uint64_t item) {
    expected_.resize(payload_spec(state_).transfer_bytes);
    payload_.fill(expected_, source_, offset_of(item));
    const std::span<const std::byte> found = slot(0).first(data_bytes());
    const auto differs = std::ranges::mismatch(found, std::span(expected_).first(data_bytes()));
    verification_.verified_bytes += found.size();
    if (differs.in1 == found.end()) return;
    ++verification_.bad_blocks;
    if (!verification_.first)
      verification_.first = wrong_item(item, found, static_cast<std::size_t>(differs.in1 - found.begin()));
  }

  [[nodiscard]] Error wrong_item(std::uint64_t item, std::span<const std::byte> found, std::size_t at) const {
    const std::string name = state_.dataset.directory + "/" +
                             state_.shape.directory_path(source_, state_.shape.directory_of_item(item)) + "/" +
                             state_.shape.item_name(source_, item, state_.renamed);
    constexpr std::size_t shown_bytes = 8;
    return wrong_data(
        *state_.context, name,
        {at, hex_of(std::span(expected_).subspan(at), shown_bytes), hex_of(found.subspan(at), shown_bytes)});
  }

  /// Those of a shared tree are dealt out; what a removed tree leaves is the dataset's own directory.
  [[nodiscard]] Status sync_directories() {
    const bool gone = kind_ == MetadataPhaseKind::tree_remove;
    const auto step = static_cast<std::uint64_t>(parameters().unique_directory ? 1 : state_.context->parts);
    std::uint64_t i = parameters().unique_directory ? 0 : static_cast<std::uint64_t>(state_.context->part);
    for (; i < (gone ? 1 : state_.shape.directory_count()); i += step) {
      batch_->clear();
      const auto directory = batch_->directory(gone ? "" : state_.shape.directory_path(source_, i));
      if (!directory) return fail(directory.error());
      if (auto status = api_->sync_directory(*directory); !status) return status;
    }
    return {};
  }

  /// Every rank keeps as many items as the one with the fewest, so that later phases are the same on all of them.
  void trim(std::uint64_t executed) {
    for (std::uint64_t item = state_.items; item < executed; ++item) {
      const std::string name = state_.dataset.directory + "/" +
                               state_.shape.directory_path(source_, state_.shape.directory_of_item(item)) + "/" +
                               state_.shape.item_name(source_, item);
      note(state_.shape.directories ? state_.context->folder->remove_directory(name)
                                    : state_.context->folder->remove_file(name));
    }
  }

  MetadataState& state_;
  MetadataPhaseKind kind_;
  std::uint64_t source_ = 0;  // the rank whose items this phase uses
  std::string data_of_;
  Permutation order_;
  Payload payload_;
  std::unique_ptr<MetadataApi> api_;
  std::unique_ptr<MetadataBatch> batch_;
  std::unique_ptr<ItemNames> names_;      // of the items
  std::unique_ptr<ItemNames> new_names_;  // that they get by renaming
  struct Entered {
    std::uint64_t number = 0;
    int handle = -1;
  };
  std::optional<Entered> entered_;       // the directory that was asked for last
  std::span<const MetadataItem> items_;  // that have their names
  std::uint64_t first_named_ = 0;        // operation
  std::size_t begin_ = 0;                // of items_: those that execute() is to do
  std::size_t count_ = 0;
  Status prepared_;  // what went wrong while a batch was made ready: execute() returns it
  std::vector<std::byte> expected_;
  Verification verification_;
};

}  // namespace ullage
