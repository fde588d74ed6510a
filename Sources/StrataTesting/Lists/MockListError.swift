// The exceptions of list views, as errors.

internal import StrataLists

/// An exception that a list view would have thrown, or a mistake that it would have made without one.
public struct MockListError: Error, Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// The counts of the data source are not the counts before, plus and minus the operations.
    case invalidCount
    /// An index does not exist.
    case outOfBounds
    /// Two operations take the same item or section, or put two at the same index.
    case conflict
    /// An item moves out of a deleted section or into an inserted one.
    case moveAcrossLifetime
    /// UIKit throws nothing, and shows wrong content or crashes later.
    case silentCorruption
  }

  public var kind: Kind
  /// The exception's reason in the words of UIKit or AppKit, or a message of this module if they throw nothing.
  public var message: String
}

extension MockListError: CustomStringConvertible {
  public var description: String { message }
}

extension ListIndex {
  /// The index path as Foundation prints it, with a zero for the address.
  var path: String { "<NSIndexPath: 0x0> {length = 2, path = \(section) - \(item)}" }
}

extension MockListError {
  static func invalidItems(
    section: Int, before: Int, after: Int, inserted: Int, deleted: Int, movedIn: Int, movedOut: Int
  ) -> Self {
    Self(
      kind: .invalidCount,
      message:
        "Invalid update: invalid number of items in section \(section). The number of items contained in "
        + "an existing section after the update (\(after)) must be equal to the number of items contained in that "
        + "section before the update (\(before)), plus or minus the number of items inserted or deleted from that "
        + "section (\(inserted) inserted, \(deleted) deleted) and plus or minus the number of items moved into or "
        + "out of that section (\(movedIn) moved in, \(movedOut) moved out).")
  }

  static func invalidSections(before: Int, after: Int, inserted: Int, deleted: Int) -> Self {
    Self(
      kind: .invalidCount,
      message:
        "Invalid update: invalid number of sections. The number of sections contained in the collection "
        + "view after the update (\(after)) must be equal to the number of sections contained in the collection "
        + "view before the update (\(before)), plus or minus the number of sections inserted or deleted "
        + "(\(inserted) inserted, \(deleted) deleted).")
  }

  static func outOfBounds(_ message: String) -> Self { Self(kind: .outOfBounds, message: message) }
  static func conflict(_ message: String) -> Self { Self(kind: .conflict, message: message) }
  static func moveAcrossLifetime(_ message: String) -> Self {
    Self(kind: .moveAcrossLifetime, message: message)
  }
  static func silentCorruption(_ message: String) -> Self { Self(kind: .silentCorruption, message: message) }
}
