// SPDX-License-Identifier: Apache-2.0
// What the engine reads of others: plans, and the manifests and markers of run folders. Seeded damage to a corpus; the
// same seed makes the same damage. No coverage leads it, so that it needs nothing but this compiler; under the
// sanitizers it finds what a parser does to memory. ULLAGE_FUZZ_S: seconds for each parser, 2 unless told;
// ULLAGE_FUZZ_SEED: where to begin. Whatever fails or crashes names its seed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/descriptor.hpp"
#include "run/plan.hpp"
#include "storage/manifest.hpp"
#include "work/workload.hpp"

extern "C" void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));

namespace ullage::parser_fuzz_test {

double setting(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtod(text, nullptr);
}

volatile std::uint64_t tried_seed = 0;
void say_seed() {
  std::array<char, 64> line{};
  const int length =
      std::snprintf(line.data(), line.size(), "\nULLAGE_FUZZ_SEED=%llu\n", static_cast<unsigned long long>(tried_seed));
  (void)!::write(STDERR_FILENO, line.data(), static_cast<std::size_t>(length));
}
void say_seed_and_die(int number) {
  say_seed();
  std::signal(number, SIG_DFL);
  (void)std::raise(number);
}

/// Says the seed where a parser ends the process.
class SeedReport final : Pinned {
 public:
  SeedReport() {
    if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(say_seed);
    for (std::size_t i = 0; i < deadly.size(); ++i) before_[i] = std::signal(deadly[i], say_seed_and_die);
  }
  ~SeedReport() {
    for (std::size_t i = 0; i < deadly.size(); ++i) std::signal(deadly[i], before_[i]);
    if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(nullptr);
  }

 private:
  static constexpr std::array<int, 4> deadly{SIGABRT, SIGSEGV, SIGBUS, SIGFPE};
  std::array<void (*)(int), deadly.size()> before_{};
};

class Random final {
 public:
  explicit Random(std::uint64_t seed) : state_(mix64(seed)) {}
  /// Below `size`, which is not 0.
  std::size_t below(std::size_t size) { return static_cast<std::size_t>(next() % size); }
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <class Range>
  const auto& of(const Range& range) {
    return range[below(std::size(range))];
  }

 private:
  std::uint64_t next() { return state_ = mix64(state_); }
  std::uint64_t state_;
};

constexpr std::array<std::string_view, 16> strange_texts{
    "\0",    "\xff\xfe", "NaN",    "1e999", "{", "}", "[", "\"", ",", "\n", "-", "\\u0000", "99999999999999999999",
    "../..", "0.1",      "\\ud800"};

/// Bytes flipped, cut, doubled, moved, replaced, or those of another document.
std::string damaged_bytes(std::string text, const std::string& other, Random& random) {
  const std::size_t changes = 1 + random.below(6);
  for (std::size_t i = 0; i < changes; ++i) {
    const std::size_t at = random.below(text.size() + 1);
    const std::size_t length = 1 + random.below(200);
    switch (random.below(7)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, random.of(strange_texts));
        break;
      case 3:
        text.insert(at, std::string(text.substr(random.below(text.size() + 1), length)));
        break;
      case 4:
        text.insert(at, std::string(other.substr(random.below(other.size() + 1), length)));
        break;
      case 5:
        if (random.one_in(5)) text.resize(at);
        break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(random.below(256));
    }
  }
  return text;
}

const Json strange_values = Json::array({nullptr,
                                         true,
                                         false,
                                         "",
                                         "x",
                                         "../../etc",
                                         -1,
                                         0,
                                         1,
                                         0.5,
                                         1e308,
                                         -1e308,
                                         std::int64_t{1} << 62U,
                                         INT64_MAX,
                                         INT64_MIN,
                                         UINT64_MAX,
                                         Json::array(),
                                         Json::object(),
                                         std::string(400, '9'),
                                         std::string("a\0b", 3)});

/// A member at any depth that is gone, doubled or something else.
void damage(Json& value, Random& random) {
  if (!value.is_structured() || value.empty() || random.one_in(8)) {
    value = random.of(strange_values);
    return;
  }
  auto member = value.begin();
  std::advance(member, random.below(value.size()));
  if (random.one_in(4))
    value.erase(member);
  else if (value.is_array() && random.one_in(4))
    value.push_back(Json(*member));
  else if (value.is_object() && random.one_in(8))
    value[member.key() + "?"] = Json(*member);
  else
    damage(*member, random);
}

std::string damaged_document(const std::string& text, Random& random) {
  Json document = parse_json(text);
  const std::size_t changes = 1 + random.below(3);
  for (std::size_t i = 0; i < changes; ++i) damage(document, random);
  return json_text(document);
}

/// Calls `parse` with damaged members of the corpus until the time is over, or something is wrong.
void fuzz(const std::vector<std::string>& corpus, const std::function<void(const std::string&)>& parse) {
  ASSERT_FALSE(corpus.empty());
  const SeedReport last_words;
  const std::chrono::duration<double> patience(setting("ULLAGE_FUZZ_S", 2));
  const auto begun = std::chrono::steady_clock::now();
  const auto first = static_cast<std::uint64_t>(setting("ULLAGE_FUZZ_SEED", 1));
  std::uint64_t seed = first;
  for (; seed < first + 20 || std::chrono::steady_clock::now() - begun < patience; ++seed) {
    tried_seed = seed;
    Random random(seed);
    const std::string& text = random.of(corpus);
    const bool as_bytes = random.one_in(3);
    const std::string damaged =
        as_bytes ? damaged_bytes(text, random.of(corpus), random) : damaged_document(text, random);
    parse(damaged);
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "ULLAGE_FUZZ_SEED=" << seed << "\n" << damaged;
      return;
    }
  }
  std::cout << seed - first << " inputs\n";
}

std::vector<std::string> recorded_plans() {
  std::vector<std::string> plans;
  if (const char* const corpus = std::getenv("ULLAGE_FUZZ_CORPUS"); corpus != nullptr) {
    std::ifstream file(std::string(corpus) + "/plans.ndjson");
    for (std::string line; std::getline(file, line);) plans.push_back(line);
  }
  return plans;
}

std::string text_of(const Result<Plan>& plan) { return plan ? "accepted " + plan->run_id : to_line(plan.error()); }

/// Plans were recorded with other libraries and another CPU.
bool is_of_this_machine(const Error& error) {
  return error.text.find("not available") != std::string::npos ||
         error.text.find("cannot run here") != std::string::npos;
}

TEST(ParserFuzz, PlansAreAcceptedOrNameTheirMistake) {
  const auto corpus = recorded_plans();
  for (const std::string& plan : corpus) {
    const auto parsed = parse_plan(plan);
    EXPECT_TRUE(parsed || is_of_this_machine(parsed.error())) << to_line(parsed.error());
  }
  fuzz(corpus, [](const std::string& text) {
    const auto plan = parse_plan(text);
    EXPECT_EQ(text_of(parse_plan(text)), text_of(plan)) << "twice the same";
    if (!plan) {
      EXPECT_EQ(plan.error().kind, ErrorKind::bad_plan);
      EXPECT_FALSE(plan.error().text.empty());
      EXPECT_EQ(to_line(plan.error()).find('\n'), std::string::npos);
      return;
    }
    // This is asked of an accepted plan before anything is touched.
    for (const auto& planned : plan->cases) {
      (void)Registry<WorkloadEntry>::instance()
          .find(planned.workload.name)
          ->needs(planned.workload.values, plan->layout);
      (void)plan->target_of(planned);
    }
  });
}

std::vector<std::string> manifests() {
  DatasetEntry shared{.dataset = "0123456789abcdef", .directory = "c-0123456789abcdef", .files = 1};
  shared.side_files = true;
  const DatasetEntry own{
      .dataset = "easy", .directory = "c-easy", .files = 4, .per_process = true, .directory_per_process = true};
  DatasetEntry tree{.dataset = "hard", .directory = "c-hard"};
  tree.tree = TreeShape{.ranks = 4, .items = 100, .items_per_directory = 10, .depth = 2, .branching = 3};
  std::vector<std::string> texts{manifest_line(shared),       manifest_line(own),
                                 manifest_line(tree),         facts_line("easy", {{"operations", {1, 2, 3}}}),
                                 facts_line("easy", nullptr), marker_text({"20261122T232612Z-d2e508", new_nonce()})};
  return texts;
}

TEST(ParserFuzz, ManifestsNameNothingOutsideTheirFolder) {
  const auto corpus = manifests();
  for (std::size_t i = 0; i < 3; ++i) ASSERT_EQ(parse_manifest(corpus[i]).size(), 1U) << corpus[i];
  fuzz(corpus, [](const std::string& text) {
    for (const DatasetEntry& entry : parse_manifest(text + "\n" + text)) {
      EXPECT_TRUE(is_safe_name(entry.directory)) << entry.directory;
      EXPECT_TRUE(entry.directory == entry.dataset || entry.directory == "c-" + entry.dataset) << entry.directory;
      EXPECT_EQ(parse_manifest(manifest_line(entry)), std::vector{entry}) << "is written as it was read";
      for (const std::uint64_t file : {std::uint64_t{0}, entry.files / 2, entry.files}) {
        EXPECT_TRUE(is_safe_name(entry.file_name(file))) << entry.file_name(file);
        EXPECT_TRUE(entry.file_name(file).starts_with(entry.directory + "/"));
      }
      (void)entry.has_file("data.00000001");
      (void)entry.has_file(text.substr(0, 20));
    }
    for (const auto& [name, facts] : parse_facts(text)) EXPECT_TRUE(is_safe_name(name)) << name << facts;
    const auto marker = parse_marker(text);
    EXPECT_TRUE(!marker || (!marker->run_id.empty() && !marker->nonce.empty()));
  });
}

}  // namespace ullage::parser_fuzz_test
