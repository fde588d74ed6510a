// Events in SQLite: one table by sequence with an index by stream, a write-ahead log, and prepared statements.
//
// A synced store has `synchronous = FULL`, with which each transaction is synced; another one `NORMAL`, with which only
// checkpoints are, and one checkpoint at the end. A connection writes for all threads, since writers would only wait for
// each other's locks.

#include "Library.h"

#include <mutex>
#include <sqlite3.h>

namespace {

class SQLiteEvents : public Library {
public:
  explicit SQLiteEvents(const Opening &opening) {
    check(sqlite3_open(opening.path.c_str(), &database));
    run("PRAGMA journal_mode = WAL");
    run(opening.synced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    run("PRAGMA cache_size = -" + std::to_string(cacheSize >> 10));
    run("CREATE TABLE IF NOT EXISTS event (sequence INTEGER PRIMARY KEY, stream TEXT NOT NULL, payload BLOB NOT NULL)");
    if (opening.indexed) run("CREATE INDEX IF NOT EXISTS eventsOfStream ON event (stream)");
    begin = prepare("BEGIN IMMEDIATE");
    commit = prepare("COMMIT");
    insert = prepare("INSERT INTO event VALUES (?, ?, ?)");
    one = prepare("SELECT payload FROM event WHERE sequence = ?");
    ofStream = prepare("SELECT payload FROM event WHERE stream = ? ORDER BY sequence");
    all = prepare("SELECT payload FROM event ORDER BY sequence");
  }

  void append(const std::vector<Event> &events, uint64_t first, uint64_t end) override {
    std::lock_guard guard(lock);
    step(begin);
    for (uint64_t number = first; number < end; number++) {
      const Event &event = events[number % events.size()];
      check(sqlite3_bind_int64(insert, 1, static_cast<sqlite3_int64>(number + 1)));
      check(sqlite3_bind_text(insert, 2, event.stream.data(), static_cast<int>(event.stream.size()), SQLITE_STATIC));
      check(sqlite3_bind_blob(insert, 3, event.payload.data(), static_cast<int>(event.payload.size()), SQLITE_STATIC));
      step(insert);
    }
    step(commit);
  }

  Found read(uint64_t sequence) override {
    check(sqlite3_bind_int64(one, 1, static_cast<sqlite3_int64>(sequence)));
    return rows(one);
  }

  Found readStream(const std::string &stream) override {
    check(sqlite3_bind_text(ofStream, 1, stream.data(), static_cast<int>(stream.size()), SQLITE_STATIC));
    return rows(ofStream);
  }

  Found scan() override { return rows(all); }

  void settle() override {}

  void close() override {
    for (auto *statement : {begin, commit, insert, one, ofStream, all}) sqlite3_finalize(statement);
    run("PRAGMA wal_checkpoint(TRUNCATE)");
    check(sqlite3_close(database));
  }

private:
  void check(int code) {
    if (code != SQLITE_OK) fail(std::string("SQLite: ") + sqlite3_errmsg(database));
  }

  void run(const std::string &text) { check(sqlite3_exec(database, text.c_str(), nullptr, nullptr, nullptr)); }

  sqlite3_stmt *prepare(const char *text) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v3(database, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
    return statement;
  }

  void step(sqlite3_stmt *statement) {
    int code = sqlite3_step(statement);
    if (code != SQLITE_DONE) check(code);
    check(sqlite3_reset(statement));
  }

  Found rows(sqlite3_stmt *statement) {
    Found found;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
      const void *payload = sqlite3_column_blob(statement, 0);
      found.add(payload, static_cast<size_t>(sqlite3_column_bytes(statement, 0)));
    }
    if (code != SQLITE_DONE) check(code);
    check(sqlite3_reset(statement));
    return found;
  }

  sqlite3 *database = nullptr;
  sqlite3_stmt *begin, *commit, *insert, *one, *ofStream, *all;
  std::mutex lock;
};

} // namespace

std::unique_ptr<Library> openSQLite(const Opening &opening) { return std::make_unique<SQLiteEvents>(opening); }
std::string versionOfSQLite() { return sqlite3_libversion(); }
