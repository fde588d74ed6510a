// Finds the tables of a store, and the one that a list reads.

internal import LogreplayShell
internal import StrataEvents
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// Finds tables: those of the saved state, and those in the streams of later events, which are not folded. Blocks.
struct StoreTables {
  let opened: OpenedStore

  /// The most tables that an error lists.
  private static let shownMax = 12

  /// The categories of all document events up to the head, ascending. O(events after the saved state).
  ///
  /// If the log is damaged, the names are those before the damage, since points there can still be read.
  ///
  /// - Returns: the names, and the damage after which there may be others.
  private func found() throws -> (names: [String], damage: CommandFailure?) {
    let saved = Fold.resuming(opened.log, .documents(only: nil)).state
    var found = Set(saved.tables.map { Array($0.name.utf8) })
    var damage: CommandFailure?
    var last: [UInt8] = []
    var cursor = opened.log.cursor(after: saved.sequence)
    do throws(StoreError) {
      while let block = try cursor.next() {
        do throws(ContentProblem) {
          try block.forEachEvent { event, _, _ in
            guard event.kind == EventKind.event, event.type.first == UInt8(ascii: "$"),
              Self.isDocument(event.type)
            else { return }
            let category = event.stream.prefix { $0 != UInt8(ascii: "/") }
            // Neighbouring events often belong to one table.
            if !category.elementsEqual(last) || found.isEmpty {
              last = Array(category)
              found.insert(last)
            }
          }
        } catch {
          throw error.storeError(of: block.header)
        }
      }
    } catch {
      damage = opened.failure(error)
    }
    do throws(CommandFailure) { try opened.throwDamage() } catch { damage = damage ?? error }
    // A git history has its table, also if no commit of it has a file.
    if !found.contains(Self.ofFiles), let types = try? opened.log.index.types(prefix: Self.commit, limit: 1),
      types.first?.name == Self.commit
    {
      found.insert(Self.ofFiles)
    }
    if found.isEmpty, let damage { throw damage }
    let names = found.sorted { $0.lexicographicallyPrecedes($1) }
    return (names.map { String(decoding: $0, as: UTF8.self) }, damage)
  }

  private static let types = [DocumentEvent.put, DocumentEvent.merge, DocumentEvent.delete].map {
    Array($0.utf8)
  }

  private static let ofFiles = Array("file".utf8)
  private static let commit = Array("git.commit".utf8)

  private static func isDocument(_ type: UnsafeRawBufferPointer) -> Bool {
    types.contains { type.elementsEqual($0) }
  }

  /// The names of all tables, ascending. Throws if the log is damaged before the first of them.
  func all() throws -> [String] { try found().names }

  /// The store's only table, which the command line need not name.
  func only() throws -> String {
    let (names, damage) = try found()
    let own = names.filter { !TableName.isInternal($0) }
    if own.count == 1 { return own[0] }
    guard !own.isEmpty else { throw damage ?? missing("the store has no tables", names) }
    throw CommandFailure(
      ExitStatus.usage, "the store has \(own.count) tables; choose one with --table", at: opened.path,
      next: "give one of them: " + Self.listed(own))
  }

  /// Throws if no event of the store was ever written to the table.
  func check(_ table: String) throws {
    let (names, damage) = try found()
    guard !names.contains(where: { $0.utf8.elementsEqual(table.utf8) }) else { return }
    throw damage ?? missing("there is no table '\(table)'", names)
  }

  private func missing(_ what: String, _ names: [String]) -> CommandFailure {
    let own = names.filter { !TableName.isInternal($0) }
    return CommandFailure(
      ExitStatus.notFound, what, at: opened.path,
      next: own.isEmpty
        ? "$put, $merge and $delete events create tables, as those that import appends"
        : "the store has \(Self.listed(own))")
  }

  private static func listed(_ names: [String]) -> String {
    names.prefix(shownMax).joined(separator: ", ") + (names.count > shownMax ? ", …" : "")
  }
}
