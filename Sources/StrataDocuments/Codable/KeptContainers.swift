// Containers of objects that one call of the decoder or the encoder leaves to the next.

/// The containers that a state has made, one for each type of coding keys, as far as they are kept.
///
/// A container of the standard library is a reference to a box around the decoder's or the encoder's own. Making one
/// looks up several generic types, which takes longer than reading a short object. A box that nothing else refers to
/// can be lent again. `Content` is what the decoder or encoder knows of what is in the box.
final class KeptContainers<Content: AnyObject> {
  /// Each type of keys has one place, so that finding it takes no search. At most 64: see `lent`.
  private static var placeCount: Int { 64 }

  /// The boxes, and beside them what copies them, the types of their keys and their contents.
  private let boxes: UnsafeMutablePointer<AnyObject?>
  private let copiers: UnsafeMutablePointer<AnyObject?>
  private let keys: UnsafeMutablePointer<ObjectIdentifier?>
  private let contents: UnsafeMutablePointer<Content?>
  /// A bit for each place whose box was lent since the call began.
  @exclusivity(unchecked) private var lent: UInt64 = 0

  init() {
    boxes = .allocate(capacity: Self.placeCount)
    copiers = .allocate(capacity: Self.placeCount)
    keys = .allocate(capacity: Self.placeCount)
    contents = .allocate(capacity: Self.placeCount)
    boxes.initialize(repeating: nil, count: Self.placeCount)
    copiers.initialize(repeating: nil, count: Self.placeCount)
    keys.initialize(repeating: nil, count: Self.placeCount)
    contents.initialize(repeating: nil, count: Self.placeCount)
  }

  deinit {
    boxes.deinitialize(count: Self.placeCount).deallocate()
    copiers.deinitialize(count: Self.placeCount).deallocate()
    keys.deinitialize(count: Self.placeCount).deallocate()
    contents.deinitialize(count: Self.placeCount).deallocate()
  }

  @inline(__always)
  private static func place(of keys: ObjectIdentifier) -> Int {
    let address = UInt(bitPattern: keys)
    return Int(truncatingIfNeeded: (address >> 4 ^ address >> 10) & UInt(placeCount &- 1))
  }

  /// A box for a type of keys, as a place that `container` reads; nil if there is none, or it is in use.
  @inline(__always)
  func lend(_ type: ObjectIdentifier) -> Int? {
    let place = Self.place(of: type)
    guard keys[place] == type, isKnownUniquelyReferenced(&boxes[place]) else { return nil }
    lent |= 1 << UInt64(truncatingIfNeeded: place)
    return place
  }

  @inline(__always)
  func content(at place: Int) -> Content { contents[place].unsafelyUnwrapped }

  /// The box that was lent, as the container that it was kept from.
  @inline(__always)
  func container<Container>(at place: Int, as _: Container.Type) -> Container {
    unsafeDowncast(copiers[place].unsafelyUnwrapped, to: ContainerCopier<Container>.self).copy(boxes + place)
  }

  /// Keeps the box of a container, which is in use, unless its place is taken by another in use or containers are not
  /// references, as they are in every standard library so far. Returns whether it is kept.
  @inline(never)
  func keep<Container>(_ container: Container, _ type: ObjectIdentifier, _ content: Content) -> Bool {
    guard MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size else { return false }
    let box = unsafeBitCast(container, to: AnyObject.self)
    let place = Self.place(of: type)
    if keys[place] != nil, !isKnownUniquelyReferenced(&boxes[place]) { return false }
    (boxes[place], keys[place], contents[place]) = (box, type, content)
    copiers[place] = ContainerCopier<Container>()
    lent |= 1 << UInt64(truncatingIfNeeded: place)
    return true
  }

  /// Gives up the boxes that were lent since the call began and are still in use, and passes the content of each.
  @inline(__always)
  func endCall(_ isInUse: (Content) -> Void) {
    while lent != 0 {
      let place = lent.trailingZeroBitCount
      lent &= lent &- 1
      guard !isKnownUniquelyReferenced(&boxes[place]) else { continue }
      if let content = contents[place] { isInUse(content) }
      (boxes[place], keys[place], contents[place]) = (nil, nil, nil)
      copiers[place] = nil
    }
  }
}

/// Copies a container of one type. The layout of containers is known only at run time, and a function that is generic
/// looks up the container's type to copy it; a class has that type at hand.
private final class ContainerCopier<Container> {
  @inline(never)
  func copy(_ box: UnsafePointer<AnyObject?>) -> Container {
    UnsafeRawPointer(box).assumingMemoryBound(to: Container.self).pointee
  }
}
