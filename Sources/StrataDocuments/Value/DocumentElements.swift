// The storage of arrays and objects: that of a standard array, but released without recursion.

internal import StrataBase

/// The elements of one container, in one allocation, copied when one of several owners changes them.
///
/// A standard array would release the arrays in it by calls inside each other, one for each level, and a document that a
/// program nests 60,000 deep would use up the stack of a thread. `NestedRelease` limits these calls. The depth is not
/// limited where a value is created, because the cases of `DocumentValue` are created without a call that could throw.
struct DocumentElements<Element> {
  /// Nil if there are no elements.
  private var storage: Storage?

  private struct Header {
    var count: Int
    /// The number of elements that the memory is for.
    let room: Int
  }

  private final class Storage: ManagedBuffer<Header, Element> {
    static func make(capacity: Int) -> Storage {
      unsafeDowncast(
        create(minimumCapacity: capacity) { _ in Header(count: 0, room: capacity) }, to: Storage.self)
    }

    @inline(__always)
    var elements: UnsafeMutablePointer<Element> { withUnsafeMutablePointerToElements { $0 } }

    // The header is read through its address, since access to the property is checked for exclusivity at run time.
    @inline(__always)
    var count: Int {
      get { withUnsafeMutablePointerToHeader { $0.pointee.count } }
      set { withUnsafeMutablePointerToHeader { $0.pointee.count = newValue } }
    }

    @inline(__always)
    var room: Int { withUnsafeMutablePointerToHeader { $0.pointee.room } }

    deinit {
      if NestedRelease.enter() {
        elements.deinitialize(count: count)
        NestedRelease.leave()
      } else {
        let waiting = Storage.make(capacity: count)
        waiting.elements.moveInitialize(from: elements, count: count)
        waiting.count = count
        NestedRelease.wait(waiting)
      }
    }
  }

  init() { storage = nil }

  /// Creates the elements that the body initialises in memory for a number of them.
  init(count: Int, initializingWith body: (UnsafeMutablePointer<Element>) -> Void) {
    guard count > 0 else { return }
    let new = Storage.make(capacity: count)
    body(new.elements)
    new.count = count
    storage = new
  }

  init(_ elements: [Element]) {
    self.init(count: elements.count) { target in
      elements.withUnsafeBufferPointer { source in
        guard let base = source.baseAddress else { return }
        target.initialize(from: base, count: source.count)
      }
    }
  }
}

extension DocumentElements: @unchecked Sendable where Element: Sendable {}

extension DocumentElements: RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
  @inline(__always)
  var startIndex: Int { 0 }
  @inline(__always)
  var endIndex: Int { storage?.count ?? 0 }

  subscript(position: Int) -> Element {
    @inline(__always)
    get { withExtendedLifetime(storage) { element(at: position).pointee } }
    @inline(__always)
    _modify {
      makeUnique()
      yield &element(at: position).pointee
    }
  }

  @inline(__always)
  private func element(at position: Int) -> UnsafeMutablePointer<Element> {
    guard let storage, position >= 0, position < storage.count else {
      preconditionFailure("the index \(position) is out of range")
    }
    return storage.elements + position
  }

  func withContiguousStorageIfAvailable<Result>(
    _ body: (UnsafeBufferPointer<Element>) throws -> Result
  ) rethrows -> Result? {
    try withExtendedLifetime(storage) {
      try body(UnsafeBufferPointer(start: storage?.elements, count: endIndex))
    }
  }

  private mutating func makeUnique() {
    if storage != nil, !isKnownUniquelyReferenced(&storage) { reallocate(capacity: endIndex) }
  }

  /// Whether both are the same memory, and so equal.
  @inline(__always)
  func isIdentical(to other: Self) -> Bool { storage === other.storage }

  mutating func append(_ element: Element) {
    let count = endIndex
    if count >= (storage?.room ?? 0) || !isKnownUniquelyReferenced(&storage) {
      reallocate(capacity: Swift.max(2 * count, 4))
    }
    guard let storage else { return }
    (storage.elements + count).initialize(to: element)
    storage.count = count + 1
  }

  mutating func reserveCapacity(_ capacity: Int) {
    if capacity > (storage?.room ?? 0) || !isKnownUniquelyReferenced(&storage) {
      reallocate(capacity: Swift.max(capacity, endIndex))
    }
  }

  /// Moves the elements to memory for a number of them, or copies them if there are other owners.
  private mutating func reallocate(capacity: Int) {
    let isOnlyOwner = isKnownUniquelyReferenced(&storage)
    let new = Storage.make(capacity: capacity)
    if let old = storage {
      new.count = old.count
      if isOnlyOwner {
        new.elements.moveInitialize(from: old.elements, count: old.count)
        old.count = 0
      } else {
        new.elements.initialize(from: old.elements, count: old.count)
      }
    }
    storage = new
  }

  mutating func replaceSubrange(_ range: Range<Int>, with new: some Collection<Element>) {
    if range.isEmpty, new.isEmpty { return }
    let addedCount = new.count
    let (oldCount, newCount) = (endIndex, endIndex - range.count + addedCount)
    precondition(range.lowerBound >= 0 && range.upperBound <= oldCount, "the range \(range) is out of bounds")
    if newCount > (storage?.room ?? 0) || !isKnownUniquelyReferenced(&storage) {
      let grown = newCount > oldCount && oldCount > 0 ? Swift.max(newCount, 2 * oldCount) : newCount
      reallocate(capacity: Swift.max(grown, oldCount))
    }
    guard let storage else { return }
    let hole = storage.elements + range.lowerBound
    hole.deinitialize(count: range.count)
    let end = hole + addedCount
    end.moveInitialize(from: hole + range.count, count: oldCount - range.upperBound)
    var next = hole
    for element in new {
      precondition(next < end, "a collection has more elements than its count")
      next.initialize(to: element)
      next += 1
    }
    precondition(next == end, "a collection has fewer elements than its count")
    storage.count = newCount
  }
}
