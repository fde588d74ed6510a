// Lists that are kept on disk, so that the next process shows them without building them.

internal import StrataBase
internal import StrataLog
internal import StrataTables

extension ListRequest {
  /// Kept in the store under a name: the order of the list is saved together with the rows, and the next process that
  /// asks for the same list shows its first page without sorting the rows again.
  ///
  /// From its first fetch until the store is closed the list is kept up to date, also while nobody shows it. A list
  /// that is saved is used only if it is the same: the same name and version, the same sections, orders and filters,
  /// and, where the program's code takes part, such as a key path, the same build of the program. Otherwise it is
  /// built from the rows, as a list that is not kept. So a kept list is never wrong, and costs disk and a little time
  /// at each change.
  ///
  /// A kept list has a part in a history (`StoreOptions.history`), under one law: its code depends on the row alone, as a
  /// projection depends on the events alone. One whose code makes other keys of the same rows later, as it does when it
  /// reads the time zone or the clock, drops out of the history, and `ProjectionStatus.historyError` names it; its past is
  /// then built from the rows.
  ///
  /// Give a version, and raise it with each change, if the request holds code that it cannot compare with that of the
  /// last process: a closure without an id, or a computed property. Without a version such a request is refused where
  /// it is used, and so is one with a filter by more values than its text has room for. Of two different lists with
  /// one name only the one that was asked for last is saved.
  ///
  /// ```swift
  /// let request = try ListRequest(DocumentRow.self)
  ///   .sectioned(byField: FieldPath("status")).sorted(byField: FieldPath("time"), .reverse).kept(as: "by status")
  /// ```
  public func kept(as name: String, version: Int? = nil) -> Self {
    with { $0.kept = KeptName(name: name, version: version) }
  }

  /// What identifies the view on disk; nil if the list is not kept, or no build of the program can be told from
  /// others.
  func keptView(_ calls: ProgramCalls) throws(ListError) -> KeptView? {
    guard let kept else { return nil }
    var text = KeptText()
    text.add("item", calls == .none ? "document" : ProgramImage.name(of: Item.self))
    if let section { text.add("section", section) }
    text.add(orderIdentity)
    text.add("nils last", "\(areNilsLast)")
    for key in declaredKeys { text.add("declared", key) }
    for sort in sorts { text.add("sort", sort) }
    for filter in filters {
      if case .filter(let filter) = filter.identity, let set = filter.expression.longestSet {
        throw .store(
          .invalid(
            what:
              "the list kept as \(kept.name.debugDescription) selects by \(set.elements.count) values, which are "
              + "too many to be kept with it",
            next: "show it without kept(as:), or keep a list that selects by a field of the rows"))
      }
      text.add(filter.identity)
    }
    if let version = kept.version {
      text.add("version", "\(version)")
    } else if let unknown = text.unknown {
      throw .store(
        .invalid(
          what:
            "the list kept as \(kept.name.debugDescription) holds \(unknown), whose code cannot be compared",
          next: "give it a version, and raise the version when the code changes, or an id"))
    }
    let isProgram = calls != .none || text.callsProgram
    return KeptView(name: kept.name, identity: text.text, program: isProgram ? Item.self : nil)
  }
}
