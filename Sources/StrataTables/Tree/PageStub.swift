// A child that is on disk: read when it is first looked into.

internal import CStrata

/// The fields of a stub after its address. The bounds follow, `low` first.
///
/// A stub is where its page would be, in the slots of inner pages or as the root, and stays there: inner pages are
/// shared by trees and by threads. The first thread that looks into the child reads it, and sets `loaded`; if two
/// threads read it at the same time, one of them drops what it read. A leaf may be dropped again: see `PageCache`. The
/// thread that writes states says when the page has another address. The bounds never change.
package struct PageStub {
  /// The page; nil until it was read, and after it was dropped. Owned.
  fileprivate var loaded: UnsafeMutableRawPointer?
  /// The `PageSource`; nil once the page has another address. Owned.
  fileprivate var source: UnsafeMutableRawPointer?
  /// The `PageMove`; nil while the page is where the stub's own address says. Owned.
  fileprivate var move: UnsafeMutableRawPointer?
  /// The lengths of the bounds; less than 0 for one that there is not.
  fileprivate var lowLength: Int32
  fileprivate var highLength: Int32
  /// The index in the cache; -1 if the stub's page is not in it. Guarded by the cache's lock.
  fileprivate var cacheIndex: Int32
  /// 1 if the page was looked into since the cache last asked.
  fileprivate var wasUsed: UInt8

  package static func of(_ header: UnsafeMutablePointer<PageHeader>) -> StubRef {
    assert(header.pointee.flags.contains(.stub), "a page is read as a stub")
    return StubRef(stub: PageRef.area(header).assumingMemoryBound(to: PageStub.self))
  }
}

/// An unowned reference to what a stub holds.
package struct StubRef: Equatable {
  fileprivate let stub: UnsafeMutablePointer<PageStub>

  fileprivate func initialize(_ part: PagePart, _ source: PageSource, loaded: PageRef?) {
    stub.initialize(
      to: PageStub(
        loaded: loaded?.reference.toOpaque(), source: Unmanaged.passRetained(source).toOpaque(), move: nil,
        lowLength: Int32(part.low?.count ?? -1), highLength: Int32(part.high?.count ?? -1), cacheIndex: -1,
        wasUsed: 0))
    var next = UnsafeMutableRawPointer(stub + 1)
    for bound in [part.low, part.high] {
      guard let bound else { continue }
      bound.withUnsafeBytes {
        if let base = $0.baseAddress { next.copyMemory(from: base, byteCount: $0.count) }
      }
      next += bound.count
    }
  }

  /// The page if it is in memory. Valid during the caller's `PageReads`.
  @inline(__always) var loaded: PageRef? {
    strata_load_address(&stub.pointee.loaded).map { PageRef(Unmanaged.fromOpaque($0)) }
  }

  /// Sets the page, whose reference is taken over, unless another thread has set it. Returns whether it was set, and
  /// the page to be used.
  fileprivate func take(_ page: PageRef) -> (isFirst: Bool, page: PageRef) {
    guard let first = strata_set_address(&stub.pointee.loaded, page.reference.toOpaque()) else {
      return (true, page)
    }
    page.release()
    return (false, PageRef(Unmanaged.fromOpaque(first)))
  }

  /// Takes the page out, which the caller then owns. Called by the cache only.
  func unload() -> PageRef? {
    strata_exchange_address(&stub.pointee.loaded, nil).map { PageRef(Unmanaged.fromOpaque($0)) }
  }

  /// See `PageStub.cacheIndex`.
  var cacheIndex: Int? {
    get { stub.pointee.cacheIndex < 0 ? nil : Int(stub.pointee.cacheIndex) }
    nonmutating set { stub.pointee.cacheIndex = newValue.map { Int32(truncatingIfNeeded: $0) } ?? -1 }
  }

  @inline(__always) fileprivate func mark() { strata_mark(&stub.pointee.wasUsed) }

  /// Whether the page was looked into since the last call.
  func unmark() -> Bool { strata_unmark(&stub.pointee.wasUsed) != 0 }

  /// Where the page is on disk, and what reads it.
  ///
  /// - Parameter own: the stub's own address.
  fileprivate func target(_ own: PageAddress) -> (address: PageAddress, source: PageSource) {
    // A page that is replaced meanwhile is not released before the read ends.
    let reads = PageReads()
    defer { withExtendedLifetime(reads) {} }
    while true {
      if let move = strata_load_address(&stub.pointee.move) {
        let move = Unmanaged<PageMove>.fromOpaque(move).takeUnretainedValue()
        return (move.address, move.source)
      }
      if let source = strata_load_address(&stub.pointee.source) {
        return (own, Unmanaged<PageSource>.fromOpaque(source).takeUnretainedValue())
      }
      // The page got another address in between.
    }
  }

  /// From now on, the page is elsewhere. Called by the thread that writes states.
  fileprivate func move(to move: PageMove) {
    let old: [UnsafeMutableRawPointer?] = [
      strata_exchange_address(&stub.pointee.move, Unmanaged.passRetained(move).toOpaque()),
      strata_exchange_address(&stub.pointee.source, nil),
    ]
    PageCache.retire(old.compactMap { $0.map { Unmanaged.fromOpaque($0) } })
  }

  fileprivate var bounds: (low: [UInt8]?, high: [UInt8]?) {
    let bytes = UnsafeRawPointer(stub + 1)
    let (low, high) = (Int(stub.pointee.lowLength), Int(stub.pointee.highLength))
    return (
      low < 0 ? nil : Array(UnsafeRawBufferPointer(start: bytes, count: low)),
      high < 0 ? nil : Array(UnsafeRawBufferPointer(start: bytes + Swift.max(0, low), count: high))
    )
  }

  /// Releases what the stub owns.
  func end() {
    let source = stub.pointee.source.map { Unmanaged<PageSource>.fromOpaque($0) }
    let move = stub.pointee.move.map { Unmanaged<PageMove>.fromOpaque($0) }
    source?._withUnsafeGuaranteedRef { $0.cache.remove(self) }
    move?._withUnsafeGuaranteedRef { $0.source.cache.remove(self) }
    loaded?.release()
    source?.release()
    move?.release()
  }
}

/// A page on disk, and what its parent says of it.
package struct PagePart {
  package var address: PageAddress
  package var height: Int
  package var total: UInt32
  /// No key of the page is below it.
  package var low: [UInt8]?
  /// Every key of the page is below it.
  package var high: [UInt8]?

  package init(address: PageAddress, height: Int, total: UInt32, low: [UInt8]?, high: [UInt8]?) {
    self.address = address
    self.height = height
    self.total = total
    self.low = low
    self.high = high
  }
}

extension PagePart {
  /// The part that a stub is for.
  init(_ stub: PageRef) { self.init(stub, at: stub.addressOnDisk) }

  fileprivate init(_ stub: PageRef, at address: PageAddress) {
    let bounds = PageStub.of(stub.header).bounds
    self.init(
      address: address, height: stub.height, total: stub.header.pointee.total, low: bounds.low,
      high: bounds.high)
  }
}

extension PageRef {
  /// A new stub, owned by the caller.
  ///
  /// - Parameter loaded: its page, whose reference is taken over.
  package init(stubFor part: PagePart, in source: PageSource, loaded: PageRef? = nil) {
    let length = MemoryLayout<PageStub>.stride + (part.low?.count ?? 0) + (part.high?.count ?? 0)
    self.init(
      creating: PageHeader(
        count: 0, height: UInt8(truncatingIfNeeded: part.height), flags: .stub, hint: PageHeader.noHint,
        prefixLength: 0, capacity: UInt32(truncatingIfNeeded: length), heapTop: 0, garbage: 0,
        total: part.total))
    address.pointee = part.address
    PageStub.of(header).initialize(part, source, loaded: loaded)
  }

  @inline(__always) package var isStub: Bool { header.pointee.flags.contains(.stub) }

  /// The page that a reference leads to: the page itself, or the one that a stub is for, which is read if it is not in
  /// memory. Blocks for as long as the disk does, and never fails: see `PageSource`. A leaf is valid only during the
  /// `PageReads` in which it was found.
  @inline(__always) var loaded: PageRef { _fastPath(!isStub) ? self : read() }

  @inline(never)
  private func read() -> PageRef {
    do throws(PageLoss) { return try readOrLoss() } catch { error.stop() }
  }

  /// The same as `loaded` for a caller that can do without the page.
  package func loadedOrLoss() throws(PageLoss) -> PageRef { isStub ? try readOrLoss() : self }

  private func readOrLoss() throws(PageLoss) -> PageRef {
    let stub = PageStub.of(header)
    if let page = stub.loaded {
      page.prefetch()
      stub.mark()
      return page
    }
    let (address, source) = stub.target(self.address.pointee)
    let page = try source.page(PagePart(self, at: address))
    assert(page.height == height && page.total == total, "a stub's page is not the one it stands for")
    if isLeaf { page.address.pointee = .none }
    let (isFirst, used) = stub.take(page)
    stub.mark()
    // Inner pages are not dropped: the pages below them are found through them.
    if isFirst, height == 0 { source.cache.add(stub) }
    return used
  }

  /// Asks the disk for the page of a stub, and does not wait for it.
  func willRead() {
    let (address, source) = PageStub.of(header).target(address.pointee)
    source.willRead(address)
  }

  /// The page that a reference leads to if it is in memory.
  package var loadedPage: PageRef? { isStub ? PageStub.of(header).loaded : self }

  /// Whether two references lead to the same content for certain: the same page, or two stubs for the same bytes on
  /// disk. Reads nothing.
  @inline(__always)
  func isSame(as other: PageRef) -> Bool {
    if self == other { return true }
    return _slowPath(isStub) && isSameOnDisk(as: other)
  }

  @inline(never)
  private func isSameOnDisk(as other: PageRef) -> Bool {
    guard other.isStub, address.pointee == other.address.pointee else { return false }
    let one = PageStub.of(header).target(address.pointee)
    let two = PageStub.of(other.header).target(other.address.pointee)
    return one.address == two.address && one.source.isSameLineage(as: two.source)
  }

  /// Where the page of a reference is on disk, without reading it. For the thread that writes a state: see
  /// `PageAddress`.
  package var addressOnDisk: PageAddress {
    guard isStub else { return address.pointee }
    let stub = PageStub.of(header)
    // An inner page has its new address before its stub.
    if !isLeaf, let page = stub.loaded { return page.address.pointee }
    return stub.target(address.pointee).address
  }

  /// The bytes that the page of a stub takes in the files of a lineage; 0 if it is elsewhere.
  package func storedLength(in lineage: AnyObject) -> UInt64 {
    let (address, source) = PageStub.of(header).target(address.pointee)
    return source.isOf(lineage) ? UInt64(address.length) : 0
  }

  /// Tells a stub where its page is now, which is durable there. Called by the thread that writes states.
  package func move(to address: PageAddress, _ source: PageSource) {
    PageStub.of(header).move(to: PageMove(address, source))
  }
}
