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
    let saved = (try? savedTables()) ?? []
    if let found = saved.first(where: { !$0.tableNames.isEmpty }) {
      let (projection, tables) = (PeopleText.printable(found.projection), Self.listed(found.tableNames))
      return CommandFailure(
        ExitStatus.notFound, what, at: opened.path,
        next: (own.isEmpty ? "" : "documents have \(Self.listed(own)); ")
          + "the projection \(projection) has saved \(tables): `at`, `diff`, `bisect` and `follow` show these"
      )
    }
    return CommandFailure(
      ExitStatus.notFound, what, at: opened.path,
      next: own.isEmpty
        ? "$put, $merge and $delete events create tables, as those that import appends"
        : "the store has \(Self.listed(own))")
  }

  // MARK: Tables of projections

  /// Where the rows of a list come from: its table, and the projection that saved it; nil for documents.
  ///
  /// Documents come first. Where no projection has saved tables, nothing is read to know that but two folders.
  ///
  /// - Parameters:
  ///   - table: nil for the only table.
  ///   - projection: nil if documents or the only projection with the table are meant.
  func source(
    of table: String?, savedBy projection: String?
  ) throws -> (table: String, saved: SavedTables?) {
    let saved = try savedTables()
    if let projection { return try source(of: table, savedBy: projection, saved) }
    guard !saved.isEmpty else { return (try table ?? only(), nil) }
    if let table {
      let having = saved.filter { $0.hasTable(table) }
      if having.isEmpty || hasDocuments(of: table) { return (table, nil) }
      guard having.count == 1 else {
        throw CommandFailure(
          ExitStatus.usage, "several projections have saved a table '\(table)'", at: opened.path,
          next: "choose one with --saved-by: " + Self.listed(having.map(\.projection)))
      }
      return (table, having[0])
    }
    let all = saved.flatMap { saved in saved.tableNames.map { (table: $0, saved: saved) } }
    let hasDocuments = try mayHaveDocuments && !found().names.allSatisfy(TableName.isInternal)
    if all.isEmpty || hasDocuments { return (try only(), nil) }
    if all.count == 1 { return (all[0].table, all[0].saved) }
    throw CommandFailure(
      ExitStatus.usage, "projections have saved \(all.count) tables; choose one with --table",
      at: opened.path,
      next: "give one of them: " + Self.listed(all.map(\.table)))
  }

  private func source(
    of table: String?, savedBy projection: String, _ saved: [SavedTables]
  ) throws(CommandFailure) -> (table: String, saved: SavedTables?) {
    guard let found = saved.first(where: { $0.projection.utf8.elementsEqual(projection.utf8) }) else {
      throw CommandFailure(
        ExitStatus.notFound, "no projection '\(projection)' has saved tables that can be used",
        at: opened.path,
        next: saved.isEmpty
          ? "tables are saved by the application, as it closes the store"
          : "there are tables of " + Self.listed(saved.map(\.projection)))
    }
    let names = found.tableNames
    guard let table = table ?? (names.count == 1 ? names[0] : nil) else {
      throw CommandFailure(
        ExitStatus.usage, "the projection has \(names.count) tables; choose one with --table",
        at: opened.path,
        next: "give one of them: " + Self.listed(names))
    }
    guard found.hasTable(table) else {
      throw CommandFailure(
        ExitStatus.notFound, "the projection '\(projection)' has saved no table '\(table)'", at: opened.path,
        next: "it has " + Self.listed(names))
    }
    return (table, found)
  }

  private func savedTables() throws(CommandFailure) -> [SavedTables] {
    do throws(StoreError) { return try SavedTables.all(of: opened.log) } catch { throw opened.failure(error) }
  }

  /// Whether some event of the log is of a document, as far as is known.
  private var mayHaveDocuments: Bool {
    Self.types.contains { type in
      guard let names = try? opened.log.index.types(prefix: type, limit: 1) else { return true }
      return names.first?.name == type
    }
  }

  private func hasDocuments(of table: String) -> Bool {
    guard mayHaveDocuments else { return false }
    guard let names = try? found().names else { return true }
    return names.contains { $0.utf8.elementsEqual(table.utf8) }
  }

  private static func listed(_ names: [String]) -> String {
    names.prefix(shownMax).joined(separator: ", ") + (names.count > shownMax ? ", …" : "")
  }
}

extension SavedTables {
  fileprivate func hasTable(_ name: String) -> Bool {
    tableNames.contains { $0.utf8.elementsEqual(name.utf8) }
  }
}
