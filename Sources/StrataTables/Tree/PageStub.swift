// A child that is on disk: read when it is first looked into.

internal import CStrata

/// What a stub holds after its place. The bounds follow, `low` first.
///
/// A stub is in the slots of inner pages where its page would be, and stays there: inner pages are shared by trees and
/// by threads. The first thread that looks into the child reads it, and sets `loaded`; if two threads read it at the
/// same time, one of them drops what it read. Everything else in a stub never changes.
struct PageStub {
  /// The page; nil until it was read. Owned.
  fileprivate var loaded: UnsafeMutableRawPointer?
  /// Owned.
  fileprivate var source: Unmanaged<PageSource>
  /// The lengths of the bounds; less than 0 for one that there is not.
  fileprivate var lowLength: Int32
  fileprivate var highLength: Int32

  @inline(__always)
  static func of(_ header: UnsafeMutablePointer<PageHeader>) -> UnsafeMutablePointer<PageStub> {
    assert(header.pointee.flags.contains(.stub), "a page is read as a stub")
    return PageRef.area(header).assumingMemoryBound(to: PageStub.self)
  }

  fileprivate static func initialize(
    _ stub: UnsafeMutablePointer<PageStub>, _ part: PagePart, _ source: PageSource
  ) {
    stub.initialize(
      to: PageStub(
        loaded: nil, source: .passRetained(source), lowLength: Int32(part.low?.count ?? -1),
        highLength: Int32(part.high?.count ?? -1)))
    var next = UnsafeMutableRawPointer(stub + 1)
    for bound in [part.low, part.high] {
      guard let bound else { continue }
      bound.withUnsafeBytes {
        if let base = $0.baseAddress { next.copyMemory(from: base, byteCount: $0.count) }
      }
      next += bound.count
    }
  }
}

extension UnsafeMutablePointer<PageStub> {
  private var word: UnsafeMutablePointer<UnsafeMutableRawPointer?> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
  }

  fileprivate var loaded: PageRef? {
    strata_load_address(word).map { PageRef(Unmanaged.fromOpaque($0)) }
  }

  /// Sets the page, whose reference is taken over. Returns the one to be used: that of the first thread.
  fileprivate func take(_ page: PageRef) -> PageRef {
    guard let first = strata_set_address(word, page.reference.toOpaque()) else { return page }
    page.release()
    return PageRef(Unmanaged.fromOpaque(first))
  }

  fileprivate var source: Unmanaged<PageSource> { pointee.source }

  fileprivate var bounds: (low: [UInt8]?, high: [UInt8]?) {
    let bytes = UnsafeRawPointer(self + 1)
    let (low, high) = (Int(pointee.lowLength), Int(pointee.highLength))
    return (
      low < 0 ? nil : Array(UnsafeRawBufferPointer(start: bytes, count: low)),
      high < 0 ? nil : Array(UnsafeRawBufferPointer(start: bytes + Swift.max(0, low), count: high))
    )
  }

  /// Releases what the stub owns.
  func end() {
    loaded?.release()
    source.release()
  }
}

/// A page on disk, and what its parent says of it.
struct PagePart {
  var place: StoredPlace
  var height: Int
  var total: UInt32
  /// No key of the page is below it.
  var low: [UInt8]?
  /// Every key of the page is below it.
  var high: [UInt8]?
}

extension PagePart {
  init(_ stub: PageRef) {
    let bounds = PageStub.of(stub.header).bounds
    self.init(
      place: stub.place.pointee, height: stub.height, total: stub.header.pointee.total, low: bounds.low,
      high: bounds.high)
  }
}

extension PageRef {
  /// A new stub, owned by the caller.
  init(stubFor part: PagePart, in source: PageSource) {
    let length = MemoryLayout<PageStub>.size + (part.low?.count ?? 0) + (part.high?.count ?? 0)
    self.init(
      creating: PageHeader(
        count: 0, height: UInt8(truncatingIfNeeded: part.height), flags: .stub, hint: PageHeader.noHint,
        prefixLength: 0, capacity: UInt32(truncatingIfNeeded: length), heapTop: 0, garbage: 0,
        total: part.total))
    place.pointee = part.place
    PageStub.initialize(PageStub.of(header), part, source)
  }

  @inline(__always) var isStub: Bool { header.pointee.flags.contains(.stub) }

  /// The page that a reference leads to: the page itself, or the one that a stub is for, which is read if nobody has
  /// read it yet. Blocks for as long as the disk does, and never fails: see `PageSource`.
  @inline(__always) var loaded: PageRef { _fastPath(!isStub) ? self : read() }

  @inline(never)
  private func read() -> PageRef {
    let stub = PageStub.of(header)
    if let page = stub.loaded {
      page.prefetch()
      return page
    }
    let page = stub.source._withUnsafeGuaranteedRef { $0.page(PagePart(self)) }
    assert(page.height == height && page.total == total, "a stub's page is not the one it stands for")
    return stub.take(page)
  }

  /// The page that a reference leads to if it is in memory.
  var loadedPage: PageRef? { isStub ? PageStub.of(header).loaded : self }

  /// Whether two references lead to the same content for certain: the same page, or two stubs for the same bytes on
  /// disk. Reads nothing.
  @inline(__always)
  func isSame(as other: PageRef) -> Bool {
    if self == other { return true }
    return _slowPath(isStub) && isSameOnDisk(as: other)
  }

  @inline(never)
  private func isSameOnDisk(as other: PageRef) -> Bool {
    guard other.isStub, place.pointee == other.place.pointee else { return false }
    let (one, two) = (PageStub.of(header).source, PageStub.of(other.header).source)
    return one._withUnsafeGuaranteedRef { one in two._withUnsafeGuaranteedRef { one.isSameFolder(as: $0) } }
  }

  /// Where the page of a reference is on disk, without reading it. For the thread that writes a state: see
  /// `StoredPlace`.
  var placeOnDisk: StoredPlace { (loadedPage ?? self).place.pointee }
}
