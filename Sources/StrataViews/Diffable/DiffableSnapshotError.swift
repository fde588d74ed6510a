// The errors of snapshots that can be changed.

/// The reason why a snapshot could not be changed or created. Items and sections are given by their descriptions.
public enum DiffableSnapshotError: Error, Hashable, Sendable {
  /// The snapshot has no section to append items to.
  case noSections
  /// The section is not in the snapshot.
  case unknownSection(String)
  /// The item is not in the snapshot.
  case unknownItem(String)
  /// The section occurs twice in one call.
  case duplicateSection(String)
  /// The item occurs twice in one call.
  case duplicateItem(String)
  /// Two identifiers of a list differ in their bytes but are equal in Swift; or, given twice, one is not equal to itself.
  case identifiersCollide(String, String)
  /// The changes are not changes of this snapshot. The text says where they do not fit.
  case changesDoNotFit(String)
}

extension DiffableSnapshotError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noSections:
      "the snapshot has no sections; append one first"
    case .unknownSection(let section):
      "the section \(section) is not in the snapshot; append it first, or check with contains(section:)"
    case .unknownItem(let item):
      "the item \(item) is not in the snapshot; append it first, or check with contains(_:)"
    case .duplicateSection(let section):
      "the section \(section) is named twice in one call; name each section once"
    case .duplicateItem(let item):
      "the item \(item) is named twice in one call; name each item once"
    case .identifiersCollide(let a, let b) where a.utf8.elementsEqual(b.utf8):
      """
      the identifier \(escaped(a)) is not equal to itself in Swift; create the snapshot with init(byteWise:), whose keys \
      are compared by their bytes
      """
    case .identifiersCollide(let a, let b):
      """
      the identifiers \(escaped(a)) and \(escaped(b)) are different in the list but equal in Swift; create the \
      snapshot with init(byteWise:), whose keys are compared by their bytes
      """
    case .changesDoNotFit(let what):
      "\(what); apply changes only to the snapshot that they start from"
    }
  }

  /// The text with every non-ASCII character escaped as its code point, since the two identifiers may look the same.
  private func escaped(_ text: String) -> String {
    "\"" + text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined() + "\""
  }
}
