// How much of a list is shown: a run of items that is counted from one of its ends.

/// A run of items: how many, how many are passed over before them, and from which end both are counted.
///
/// After every change a window shows exactly `min(length, items − offset)` items, and none where the offset is
/// behind them. A window that is pinned to the beginning shows other items when something is put in or taken out
/// before it; one that is pinned to the end does so for changes behind it, and stands still for those before it.
public struct ListWindow: Hashable, Sendable {
  /// The end of the list that a window counts from.
  public enum Pin: Hashable, Sendable {
    case beginning
    case end
  }

  /// At most so many items; nil for all that are left.
  public let length: Int?
  /// So many items stand between the pin and the window.
  public let offset: Int
  public let pin: Pin

  /// - Parameters:
  ///   - length: at least 0; nil for no limit.
  ///   - offset: at least 0.
  public init(length: Int?, offset: Int = 0, pin: Pin = .beginning) {
    precondition(length ?? 0 >= 0 && offset >= 0, "a window's length and offset are at least 0")
    self.length = length
    self.offset = offset
    self.pin = pin
  }

  /// Everything.
  public static let all = ListWindow(length: nil)

  /// The first items, or the first ones behind an offset.
  public static func first(_ length: Int, after offset: Int = 0) -> ListWindow {
    ListWindow(length: length, offset: offset, pin: .beginning)
  }

  /// The last items, or the last ones before an offset from the end.
  public static func last(_ length: Int, before offset: Int = 0) -> ListWindow {
    ListWindow(length: length, offset: offset, pin: .end)
  }
}

extension ListWindow {
  /// Whether it shows everything, however much that is.
  var isAll: Bool { length == nil && offset == 0 }

  /// The places that are shown of so many items. O(1).
  package func range(of count: Int) -> Range<Int> {
    let passed = min(offset, count)
    let taken = min(length ?? .max, count - passed)
    return switch pin {
    case .beginning: passed..<passed + taken
    case .end: count - passed - taken..<count - passed
    }
  }
}

/// Both windows of a list: each section shows what its own window leaves, and of that the list shows what the
/// window over all of it leaves.
package struct ListWindows: Hashable, Sendable {
  /// Over the items of all sections, one after the other.
  package var list: ListWindow
  /// Over the items of each section.
  package var section: ListWindow

  package init(list: ListWindow = .all, section: ListWindow = .all) {
    self.list = list
    self.section = section
  }

  package static let all = ListWindows()
}
