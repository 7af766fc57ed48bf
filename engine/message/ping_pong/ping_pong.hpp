// SPDX-License-Identifier: Apache-2.0
// One-way times between pairs of ranks or of nodes: all of them, or HPCC's sample.
#pragma once

#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "message/pair_timer.hpp"
#include "message/patterns/pair_schedule.hpp"
#include "mpi/agreement.hpp"
#include "mpi/comm.hpp"
#include "mpi/file.hpp"
#include "mpi/info.hpp"
#include "work/entry.hpp"
#include "work/workload.hpp"

namespace ullage {

// Times of many pairs in a file of their own: each end keeps its times and writes them to their place, so that no rank
// has all of them.

/// A row of the first part of the file: an end, the lowest rank of a node or any. The host's name is cut to what fits,
/// and padded with zeros.
struct PairEnd {
  std::int32_t rank = 0;
  std::int32_t node = 0;
  std::array<char, 64> host{};
};

/// A row of the second part: numbers of two ends, and the seconds from the first to the second.
struct PairTime {
  std::int32_t client = 0;
  std::int32_t server = 0;
  double one_way_s = 0;
};

static_assert(sizeof(PairTime) == 16);
static_assert(sizeof(PairEnd) == 72);

static_assert(std::endian::native == std::endian::little, "tables of pairs are little-endian");

[[nodiscard]] inline PairEnd pair_end(int rank, int node, const std::string& host) {
  PairEnd end{rank, node, {}};
  std::copy_n(host.begin(), std::min(host.size(), end.host.size()), end.host.begin());
  return end;
}

using TableBytes = std::span<const std::byte>;

/// MPI_File_open does not empty a file.
inline Status remove_earlier(const mpi::Comm& ends, const std::string& path) {
  Status removed;
  if (ends.rank() == 0 && unlink(path.c_str()) != 0 && errno != ENOENT)
    removed = fail(errno_error(errno, "remove", path));
  return mpi::share_status(ends, removed);
}

inline Error table_error(const std::string& path, std::string operation, std::string text) {
  Error error = environment_error(path, std::move(text));
  error.kind = ErrorKind::io;
  error.operation = std::move(operation);
  return error;
}

/// Collective, whatever befell a rank: one in error takes part with nothing.
inline void write_piece(const mpi::File& file, const std::string& path, std::uint64_t offset_bytes, TableBytes piece,
                        Status& status) {
  const TableBytes mine = status ? piece : TableBytes{};
  const auto written = file.write_at_all(offset_bytes, mine);
  if (!status) return;
  if (!written)
    status = fail(written.error());
  else if (*written != mine.size())
    status = fail(
        table_error(path, "write",
                    "only " + std::to_string(*written) + " of " + std::to_string(mine.size()) + " bytes were written"));
}

/// Collective, likewise.
inline void compare_piece(const mpi::File& file, const std::string& path, std::uint64_t offset_bytes, TableBytes piece,
                          std::span<std::byte> room, Status& status) {
  const std::span<std::byte> found = room.first(status ? piece.size() : 0);
  const auto read = file.read_at_all(offset_bytes, found);
  if (!status) return;
  if (!read)
    status = fail(read.error());
  else if (*read != piece.size() || !std::ranges::equal(found, piece))
    status = fail(table_error(path, "read back", "the table does not hold what was written"));
}

/// Collective over `ends`. Writes a new file at `path`, which replaces one that is there: of every `stride`-th end its
/// PairEnd, in their order, then all their times, in the same order. Read back before it is closed: a library that
/// answers that all is well may have written nothing. An error of any end is one of all.
[[nodiscard]] inline Status write_pair_table(const mpi::Comm& ends, const std::string& path, int stride,
                                             const PairEnd& mine, std::span<const PairTime> times) {
  const bool takes_part = ends.rank() % stride == 0;
  const TableBytes end = takes_part ? std::as_bytes(std::span(&mine, 1)) : TableBytes{};
  const TableBytes rows = std::as_bytes(times);
  std::vector<std::byte> room;
  const Status got = mpi::agreed_allocation(ends, [&] { room.resize(std::max(end.size(), rows.size())); });
  if (!got) return got;

  if (const Status removed = remove_earlier(ends, path); !removed) return removed;
  auto file = mpi::File::open(ends, path, mpi::FileAccess::create_update, mpi::Info(), true);
  Status status = mpi::share_status(ends, file ? Status{} : fail(file.error()));
  if (!status) return status;

  const auto index = static_cast<std::uint64_t>(ends.rank() / stride);
  const auto count = static_cast<std::uint64_t>((ends.size() + stride - 1) / stride);
  const std::uint64_t end_at = index * sizeof(PairEnd);
  const std::uint64_t rows_at = count * sizeof(PairEnd) + ends.sum_before(rows.size());

  write_piece(*file, path, end_at, end, status);
  write_piece(*file, path, rows_at, rows, status);
  if (const Status synced = file->sync(); status) status = synced;
  compare_piece(*file, path, end_at, end, room, status);
  compare_piece(*file, path, rows_at, rows, room, status);
  if (const Status closed = file->close(); status) status = closed;
  return mpi::share_status(ends, status);
}

enum class PairChoice { all, sampled };
enum class PairEnds { ranks, nodes };

struct PingPongParameters : MessagePages {
  PairChoice pairs = PairChoice::all;
  PairEnds between = PairEnds::ranks;
  PairTraffic traffic = PairTraffic::ping_pong;
  bool at_once = false;
  std::uint64_t message_bytes = 8;
  std::uint64_t loops = 8;
  std::uint64_t measurements = 5;
  double budget_s = 10;
  std::uint64_t every = 1;
  bool keeps_table = false;

  [[nodiscard]] static Table<PingPongParameters> table();
  [[nodiscard]] PairJob job() const { return {traffic, message_bytes, loops, measurements, pages}; }
};

inline constexpr int fewest_ends = 2;
inline constexpr int tag_name = 1;
inline constexpr int tag_answers = 2;

/// Whole ps: what is below is noise, and only makes the records longer.
inline double in_picoseconds(double seconds) { return std::round(seconds * 1e12) / 1e12; }

/// An operation is a turn of the schedule, which all ends begin together. Gauges, the same on every rank:
/// least_one_way_s, mean_one_way_s, most_one_way_s (over the pairs), message_bytes, pairs. Facts: traffic, stride, and
/// of every stride-th end its name (`ends`) and host (`hosts`), and `one_way_s` (`[client, server, s]`, numbers of
/// ends). Of more than most_told_pairs these three are in a file instead (write_pair_table): `table` has its name,
/// beside the records, and the numbers of `ends` and `pairs` in it.
class PingPongPhase final : public PhaseWork {
 public:
  /// All pairs are measured where there are no more ends than this.
  static constexpr int most_ends = 1024;
  /// At most so many stand in a record, which has a few KB.
  static constexpr std::uint64_t most_told_pairs = 256;

  PingPongPhase(const PingPongParameters& parameters, const WorkloadContext& context)
      : parameters_(parameters), world_(*context.world), key_(context.run_key), tables_(context.tables) {}

  [[nodiscard]] PhaseInfo info() const override { return {.name = "pairs", .collective = true}; }

  [[nodiscard]] Status allocate() override {
    const mpi::Topology& topology = world_.topology();
    const bool of_nodes = parameters_.between == PairEnds::nodes;
    is_end_ = !of_nodes || topology.leader();
    end_count_ = of_nodes ? topology.nodes : topology.ranks;
    if (end_count_ < fewest_ends) return fail(environment_error("pairs", "all ranks are on one node"));
    stride_ = static_cast<int>(std::min<std::uint64_t>(parameters_.every, static_cast<std::uint64_t>(end_count_)));
    if (ends_taking_part() < fewest_ends) return fail(environment_error("every", "leaves one end, which has no pair"));
    if (ends_taking_part() > most_ends && parameters_.pairs == PairChoice::all)
      return fail(environment_error("pairs", std::to_string(ends_taking_part()) +
                                                 " ends, but all pairs are possible for at most 1024; choose a larger "
                                                 "every"));
    if (is_end_)
      timer_ = std::make_unique<PairTimer>(ends_, of_nodes ? topology.node : topology.rank, parameters_.job(), key_);
    return {};
  }

  [[nodiscard]] Status before() override {
    ends_ = world_.all().split(is_end_ ? 0 : 1, world_.rank());
    stride_ = choose_stride();
    schedule_.emplace(end_count_, parameters_.at_once ? PairConcurrency::together : PairConcurrency::alone, stride_);
    answers_.reserve(static_cast<std::size_t>(ends_taking_part()));
    return {};
  }

  [[nodiscard]] std::uint64_t operations() const override { return is_end_ && schedule_ ? schedule_->turns() : 0; }

  [[nodiscard]] Status execute(Meter& meter) override {
    for (std::uint64_t turn = first_; turn < first_ + prepared_; ++turn) {
      const std::uint64_t before_bytes = timer_->sent_bytes();
      ends_.barrier();
      if (const auto mine = schedule_->at(turn, ends_.rank())) take(*mine);
      (void)meter.completed(timer_->sent_bytes() - before_bytes);
    }
    return {};
  }

  [[nodiscard]] Verification after(std::uint64_t, Meter&) override {
    reduce();
    Verification found = timer_ == nullptr ? Verification{} : timer_->found();
    if (!is_end_) return found;
    if (!makes_table()) {
      gather();
      return found;
    }
    if (const Status kept = keep_table(); !kept && !found.first) found.first = kept.error();
    return found;
  }

  [[nodiscard]] Gauges gauges() const override {
    return {{"least_one_way_s", least_s_},
            {"mean_one_way_s", mean_s_},
            {"most_one_way_s", most_s_},
            {"message_bytes", static_cast<double>(parameters_.message_bytes)},
            {"pairs", pairs_}};
  }

  void add_facts(nlohmann::json& facts) const override {
    facts["traffic"] = parameters_.traffic == PairTraffic::ping_pong ? "ping-pong" : "one-way";
    facts["at_once"] = parameters_.at_once;
    facts["stride"] = stride_;
    if (makes_table()) {
      const std::string path = table_path();
      const auto pairs = static_cast<std::uint64_t>(pairs_);
      facts["table"] = {{"name", path.substr(path.rfind('/') + 1)}, {"ends", ends_taking_part()}, {"pairs", pairs}};
    } else {
      facts["ends"] = ends_told_;
      facts["hosts"] = hosts_told_;
      facts["one_way_s"] = matrix_told_;
    }
    if (timer_ != nullptr) facts["pages"] = timer_->pages();
  }

 private:
  /// Chooses by the first end with the last.
  [[nodiscard]] int choose_stride() {
    if (parameters_.pairs == PairChoice::all) return stride_;
    std::int64_t took_ns = 0;
    if (is_end_) {
      ends_.barrier();
      const std::int64_t start = now_ns();
      if (ends_.rank() == 0) (void)timer_->ask(end_count_ - 1);
      if (ends_.rank() == end_count_ - 1) timer_->answer(0);
      took_ns = now_ns() - start;
    }
    took_ns = std::max<std::int64_t>(1, world_.all().broadcast(took_ns, 0));
    return sampling_stride(end_count_, parameters_.budget_s, static_cast<double>(took_ns) * 1e-9);
  }

  void take(const PairTurn& turn) {
    if (turn.client == ends_.rank())
      answers_.push_back({turn.client, turn.server, in_picoseconds(timer_->ask(turn.server))});
    else
      timer_->answer(turn.client);
  }

  void reduce() {
    std::array least{std::numeric_limits<double>::max()};
    std::array most{0.0};
    std::array sums{0.0, 0.0};
    for (const PairTime& answer : answers_) {
      least[0] = std::min(least[0], answer.one_way_s);
      most[0] = std::max(most[0], answer.one_way_s);
      sums[0] += answer.one_way_s;
      sums[1] += 1;
    }
    const mpi::Comm& all = world_.all();
    all.min_all(least);
    all.max_all(most);
    all.sum_all(sums);
    least_s_ = least[0];
    most_s_ = most[0];
    pairs_ = sums[1];
    mean_s_ = sums[0] / sums[1];
  }

  [[nodiscard]] int ends_taking_part() const { return (end_count_ + stride_ - 1) / stride_; }

  [[nodiscard]] bool makes_table() const {
    const auto ends = static_cast<std::uint64_t>(ends_taking_part());
    return parameters_.keeps_table || ends * (ends - 1) > most_told_pairs;
  }

  [[nodiscard]] std::string table_path() const { return tables_ + ".pairs"; }

  [[nodiscard]] Status keep_table() const {
    if (tables_.empty()) return fail(environment_error("pairs", "there is no place for a table of so many pairs"));
    const mpi::Topology& topology = world_.topology();
    const PairEnd mine = pair_end(topology.rank, topology.node, topology.node_name);
    return write_pair_table(ends_, table_path(), stride_, mine, answers_);
  }

  /// The first end, which is rank 0, hears the others that took part, few as they are, one after the other.
  void gather() {
    const mpi::Topology& topology = world_.topology();
    const std::string name = "node" + std::to_string(topology.node) + ":rank" + std::to_string(topology.rank);
    const Json mine{{"name", name}, {"host", topology.node_name}};
    if (ends_.rank() % stride_ != 0) return;
    if (ends_.rank() != 0) {
      ends_.send(json_text(mine), 0, tag_name);
      std::string bytes(answers_.size() * sizeof(PairTime), '\0');
      if (!answers_.empty()) std::memcpy(bytes.data(), answers_.data(), bytes.size());
      ends_.send(bytes, 0, tag_answers);
      return;
    }
    for (int end = 0; end < end_count_; end += stride_) {
      const Json one = end == 0 ? mine : parse_json(ends_.receive_text(end, tag_name));
      std::vector<PairTime> answers = answers_;
      if (end > 0) {
        const std::string bytes = ends_.receive_text(end, tag_answers);
        answers.resize(bytes.size() / sizeof(PairTime));
        if (!answers.empty()) std::memcpy(answers.data(), bytes.data(), bytes.size());
      }
      keep(answers);
      ends_told_.push_back(one["name"]);
      hosts_told_.push_back(one["host"]);
    }
  }

  void keep(const std::vector<PairTime>& answers) {
    for (const PairTime& answer : answers)
      matrix_told_.push_back(Json::array({answer.client, answer.server, answer.one_way_s}));
  }

  PingPongParameters parameters_;
  const mpi::World& world_;
  std::uint64_t key_;
  std::string tables_;
  mpi::Comm ends_ = mpi::Comm::self();  // from before() on; of ranks that are none, those that are none
  bool is_end_ = false;
  int end_count_ = 0;
  int stride_ = 1;
  std::unique_ptr<PairTimer> timer_;
  std::optional<PairSchedule> schedule_;
  std::vector<PairTime> answers_;
  double least_s_ = 0;
  double mean_s_ = 0;
  double most_s_ = 0;
  double pairs_ = 0;
  Json ends_told_ = Json::array();
  Json hosts_told_ = Json::array();
  Json matrix_told_ = Json::array();
};

}  // namespace ullage
