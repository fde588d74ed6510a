// What can be wrong with a call on a snapshot.

/// Why a snapshot could not be changed or made. It names what stands in the way by its description.
public enum DiffableSnapshotError: Error, Hashable, Sendable {
  /// There is no section that items could be appended to.
  case noSections
  /// The section is not in the snapshot.
  case unknownSection(String)
  /// The item is not in the snapshot.
  case unknownItem(String)
  /// The section is named twice in one call.
  case duplicateSection(String)
  /// The item is named twice in one call.
  case duplicateItem(String)
  /// Two identifiers of a list are different there, by their bytes, and equal in Swift.
  case identifiersCollide(String, String)
  /// The changes are not changes of this snapshot: a sentence that says where.
  case changesDoNotFit(String)
}

extension DiffableSnapshotError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noSections:
      "there are no sections; append one first, or name the section"
    case .unknownSection(let section):
      "the section \(section) is not in the snapshot; append it first, or ask contains(section:)"
    case .unknownItem(let item):
      "the item \(item) is not in the snapshot; append it first, or ask contains(_:)"
    case .duplicateSection(let section):
      "the section \(section) is named twice in one call; name each section once"
    case .duplicateItem(let item):
      "the item \(item) is named twice in one call; name each item once"
    case .identifiersCollide(let a, let b):
      """
      the identifiers \(escaped(a)) and \(escaped(b)) are two in the list and equal in Swift; make the snapshot \
      with init(byteWise:), whose keys are compared by their bytes
      """
    case .changesDoNotFit(let what):
      "\(what); apply changes to the snapshot that they were found from"
    }
  }

  /// The text with every character that is not ASCII written as its number: the two texts look the same.
  private func escaped(_ text: String) -> String {
    "\"" + text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined() + "\""
  }
}
