// Runs one piece of work of one library once, as `stratabench peer-lane` does for Strata, and prints the same line.
//
//     peers versions
//     peers LIBRARY WORK --events FILE --store PATH --count N --writers N --each N --hot N --at-most SECONDS
//         --synced --indexed

#include "Library.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>

namespace {

/// The options of the command line; a flag has the text "1".
class Options {
public:
  Options(int count, char **words) {
    for (int index = 0; index < count; index++) {
      std::string name = words[index];
      if (name.rfind("--", 0) != 0) fail("no option: " + name);
      bool isFlag = name == "--synced" || name == "--indexed";
      if (!isFlag && index + 1 == count) fail(name + " has no value");
      values[name.substr(2)] = isFlag ? "1" : words[++index];
    }
  }

  std::string text(const std::string &name) const {
    auto found = values.find(name);
    if (found == values.end()) fail("--" + name + " is missing");
    return found->second;
  }

  uint64_t number(const std::string &name, uint64_t otherwise) const {
    return values.count(name) ? std::stoull(text(name)) : otherwise;
  }

  bool has(const std::string &name) const { return values.count(name) > 0; }

private:
  std::map<std::string, std::string> values;
};

uint32_t length(const std::string &bytes, size_t &offset) {
  if (offset + 4 > bytes.size()) fail("the file of events is cut off");
  uint32_t value;
  memcpy(&value, bytes.data() + offset, 4);
  offset += 4;
  return value;
}

std::vector<Event> readEvents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  std::string bytes = text.str();
  if (bytes.rfind("events 1", 0) != 0) fail(path + " is no file of events");
  std::vector<Event> events;
  for (size_t offset = 8; offset < bytes.size();) {
    size_t stream = length(bytes, offset), payload = length(bytes, offset);
    if (stream + payload > bytes.size() - offset) fail("the file of events is cut off");
    events.push_back({bytes.substr(offset, stream), bytes.substr(offset + stream, payload)});
    offset += stream + payload;
  }
  return events;
}

/// SplitMix64, as FixedGenerator.swift has it.
class Generator {
public:
  explicit Generator(uint64_t seed) : state(seed) {}

  uint64_t next() {
    state += 0x9E3779B97F4A7C15;
    uint64_t value = state;
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
    value = (value ^ value >> 27) * 0x94D049BB133111EB;
    return value ^ value >> 31;
  }

private:
  uint64_t state;
};

double seconds(const std::function<void()> &body) {
  auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Runs a body on some threads, each with its number.
void onThreads(uint64_t count, const std::function<void(uint64_t)> &body) {
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> failures(count);
  for (uint64_t number = 0; number < count; number++) {
    threads.emplace_back([&, number] {
      try {
        body(number);
      } catch (...) {
        failures[number] = std::current_exception();
      }
    });
  }
  for (auto &thread : threads) thread.join();
  for (auto &failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

constexpr uint64_t batchSize = 1000;

using Open = std::function<std::unique_ptr<Library>(const Opening &)>;

class Lane {
public:
  Lane(Open open, const Options &options)
      : open(std::move(open)), options(options), events(readEvents(options.text("events"))),
        count(options.number("count", 1000000)), writers(options.number("writers", 1)),
        each(options.number("each", 1000)) {}

  double time = 0;
  Found found;

  void run(const std::string &work) {
    if (work == "fill") {
      time = seconds([&] { fill(true); });
    } else if (work == "bulk") {
      time = seconds([&] { fill(false); });
    } else if (work == "durable") {
      durable();
    } else if (work == "read") {
      read();
    } else if (work == "stream") {
      streams();
    } else if (work == "scan") {
      auto library = open(opening());
      time = seconds([&] { found = library->scan(); });
      library->close();
    } else {
      fail("no work " + work);
    }
  }

private:
  Open open;
  const Options &options;
  std::vector<Event> events;
  uint64_t count, writers, each;

  Opening opening() const { return {options.text("store"), options.has("synced"), options.has("indexed")}; }

  void fill(bool settles) {
    auto library = open(opening());
    uint64_t batches = (count + batchSize - 1) / batchSize;
    onThreads(writers, [&](uint64_t writer) {
      for (uint64_t batch = writer; batch < batches; batch += writers) {
        library->append(events, batch * batchSize, std::min(count, (batch + 1) * batchSize));
      }
    });
    if (settles) library->settle();
    library->close();
    found.count = count;
  }

  void durable() {
    Opening synced = opening();
    synced.synced = true;
    auto library = open(synced);
    library->append(events, writers * each, writers * each + 1);
    std::atomic<uint64_t> written = 0;
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(options.number("at-most", 10));
    time = seconds([&] {
      onThreads(writers, [&](uint64_t writer) {
        for (uint64_t number = 0; number < each && std::chrono::steady_clock::now() < end; number++) {
          uint64_t index = writer * each + number;
          library->append(events, index, index + 1);
          written++;
        }
      });
    });
    library->close();
    found.count = written;
  }

  void read() {
    auto library = open(opening());
    uint64_t range = options.number("hot", 0);
    range = range > 0 ? std::min(range, count) : count;
    auto pass = [&](uint64_t reads, uint64_t seed) {
      Generator numbers(seed);
      Found sum;
      for (uint64_t number = 0; number < reads; number++) {
        sum.sum += library->read(count - range + numbers.next() % range + 1).sum;
      }
      sum.count = reads;
      return sum;
    };
    pass(each / 5, 2);
    time = seconds([&] { found = pass(each, 1); });
    library->close();
  }

  void streams() {
    auto library = open(opening());
    auto pass = [&](uint64_t reads, uint64_t seed) {
      Generator numbers(seed);
      Found sum;
      for (uint64_t number = 0; number < reads; number++) {
        Found one = library->readStream(events[numbers.next() % count % events.size()].stream);
        sum.count += one.count;
        sum.sum += one.sum;
      }
      return sum;
    };
    pass(each / 5, 2);
    time = seconds([&] { found = pass(each, 1); });
    library->close();
  }
};

int run(int count, char **words) {
  if (count == 2 && std::string(words[1]) == "versions") {
    printf("{\"RocksDB\": \"%s\", \"LMDB\": \"%s\", \"SQLite\": \"%s\"}\n", versionOfRocksDB().c_str(),
           versionOfLMDB().c_str(), versionOfSQLite().c_str());
    return 0;
  }
  if (count < 3) fail("usage: peers versions | peers LIBRARY WORK [OPTION...]");
  std::map<std::string, Open> libraries = {{"rocksdb", openRocksDB}, {"lmdb", openLMDB}, {"sqlite", openSQLite}};
  auto library = libraries.find(words[1]);
  if (library == libraries.end()) fail(std::string("no library ") + words[1]);
  Options options(count - 3, words + 3);
  Lane lane(library->second, options);
  lane.run(words[2]);
  printf("{\"seconds\": %.9f, \"count\": %llu, \"sum\": %llu}\n", lane.time,
         static_cast<unsigned long long>(lane.found.count), static_cast<unsigned long long>(lane.found.sum));
  return 0;
}

} // namespace

int main(int count, char **words) {
  try {
    return run(count, words);
  } catch (const std::exception &error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
