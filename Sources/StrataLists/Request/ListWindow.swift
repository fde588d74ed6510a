// The part of a list that is shown: a range of items that is counted from one of its ends.

/// A range of items: its length, the number of items skipped before it, and the end from which both are counted.
///
/// After every change a window shows exactly `min(length, items − offset)` items, and none if the offset is past the
/// last item. A window pinned to the beginning shows other items after an insertion or deletion before it. One pinned
/// to the end does so for changes after it, and is not affected by those before it.
public struct ListWindow: Hashable, Sendable {
  /// The end of the list that a window counts from.
  package enum Pin: Hashable, Sendable {
    case beginning
    case end
  }

  /// The maximum number of items; nil for all that are left.
  package let length: Int?
  /// The number of items between the pin and the window.
  package let offset: Int
  package let pin: Pin

  /// - Parameters:
  ///   - length: at least 0; nil for no limit.
  ///   - offset: at least 0.
  package init(length: Int?, offset: Int = 0, pin: Pin = .beginning) {
    precondition(length ?? 0 >= 0 && offset >= 0, "a window's length and offset are at least 0")
    self.length = length
    self.offset = offset
    self.pin = pin
  }

  /// Everything.
  public static let all = ListWindow(length: nil)

  /// The first items, or the first ones after an offset. A negative number counts as 0.
  public static func first(_ length: Int, after offset: Int = 0) -> ListWindow {
    ListWindow(length: max(length, 0), offset: max(offset, 0), pin: .beginning)
  }

  /// The last items, or the last ones before an offset from the end. A negative number counts as 0.
  public static func last(_ length: Int, before offset: Int = 0) -> ListWindow {
    ListWindow(length: max(length, 0), offset: max(offset, 0), pin: .end)
  }
}

extension ListWindow {
  /// Whether it shows everything, whatever the number of items.
  var isAll: Bool { length == nil && offset == 0 }

  /// The indexes that are shown out of `count` items. O(1).
  package func range(of count: Int) -> Range<Int> {
    let passed = min(offset, count)
    let taken = min(length ?? .max, count - passed)
    return switch pin {
    case .beginning: passed..<passed + taken
    case .end: count - passed - taken..<count - passed
    }
  }
}

/// Both windows of a list. Each section first applies its own window; the window over the whole list then counts the
/// remaining items.
package struct ListWindows: Hashable, Sendable {
  /// Over the items of all sections in sequence.
  package var list: ListWindow
  /// Over the items of each section.
  package var section: ListWindow

  package init(list: ListWindow = .all, section: ListWindow = .all) {
    self.list = list
    self.section = section
  }

  package static let all = ListWindows()
}
