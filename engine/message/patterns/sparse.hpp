// SPDX-License-Identifier: Apache-2.0
// Patterns of links without a shape: all to one, and a user's own from a text, a line each `FROM TO [WEIGHT]`.
#pragma once

#include <charconv>
#include <set>

#include "base/result.hpp"
#include "base/std.hpp"
#include "message/patterns/pattern.hpp"

namespace ullage {

// One against all.

/// Every other rank sends to rank 0.
[[nodiscard]] inline Pattern incast(int ranks) {
  Links links{ranks, {}};
  for (int rank = 1; rank < ranks; ++rank) links.links.push_back({rank, 0});
  return {"incast", {}, std::move(links)};
}

/// Rank 0 sends to every other rank.
[[nodiscard]] inline Pattern outcast(int ranks) {
  Links links{ranks, {}};
  for (int rank = 1; rank < ranks; ++rank) links.links.push_back({0, rank});
  return {"outcast", {}, std::move(links)};
}

inline constexpr int most_link_weight = 1024;
inline constexpr std::size_t most_link_words = 3;

inline constexpr std::string_view sparse_blanks = " \t\r";

/// The next word of `line`, which loses it; empty at the end.
inline std::string_view take_word(std::string_view& line) {
  const std::size_t start = line.find_first_not_of(sparse_blanks);
  if (start == std::string_view::npos) return line = {};
  const std::size_t end = std::min(line.find_first_of(sparse_blanks, start), line.size());
  const std::string_view word = line.substr(start, end - start);
  line.remove_prefix(end);
  return word;
}

inline bool read_number(std::string_view word, int& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc{} && end == word.data() + word.size() && number >= 0;
}

/// One line, without its comment. Returns what is wrong with it, or nothing.
class LinkReader final {
 public:
  explicit LinkReader(int ranks) : ranks_(ranks) {}

  std::string read(std::string_view line) {
    std::array<int, most_link_words> numbers{0, 0, 1};
    std::size_t words = 0;
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
      if (words == most_link_words) return "more than three words";
      if (!read_number(word, numbers[words])) return "'" + std::string(word) + "' is not a whole number";
      ++words;
    }
    if (words == 0) return {};
    if (words == 1) return "no rank to send to";
    return add(numbers[0], numbers[1], numbers[2]);
  }

  std::vector<Links::Link> links;

 private:
  std::string add(int from, int to, int weight) {
    for (const int rank : {from, to})
      if (rank >= ranks_) return "rank " + std::to_string(rank) + " of " + std::to_string(ranks_) + " ranks";
    if (from == to) return "rank " + std::to_string(from) + " sends to itself";
    if (weight < 1 || weight > most_link_weight)
      return "a weight from 1 to " + std::to_string(most_link_weight) + " is allowed";
    if (!known_.emplace(from, to).second) return "this link is given twice";
    links.insert(links.end(), static_cast<std::size_t>(weight), Links::Link{from, to});
    return {};
  }

  int ranks_;
  std::set<std::pair<int, int>> known_;
};

inline std::unexpected<Error> bad_file(const std::string& file, std::string text) {
  Error error = environment_error(file, std::move(text));
  error.operation = "read";
  return fail(std::move(error));
}

/// WEIGHT messages (1 to 1024, 1 where it is left out) go from rank FROM to rank TO in every iteration. `#` begins a
/// comment; numbers are separated by blanks or tabs. Anything else, a rank that is not there, a rank that sends to
/// itself, a link that stands there twice, and a text without links are errors that name `file` and the line.
[[nodiscard]] inline Result<Pattern> sparse(std::string_view text, const std::string& file, int ranks) {
  LinkReader reader(ranks);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (const std::string wrong = reader.read(line.substr(0, line.find('#'))); !wrong.empty())
      return bad_file(file, "line " + std::to_string(number) + ": " + wrong);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (reader.links.empty()) return bad_file(file, "no link in it; a line must be FROM TO [WEIGHT]");
  return Pattern{"sparse", {}, Links{ranks, std::move(reader.links)}};
}

}  // namespace ullage
