// Sealing on request. The store also seals in the background.

internal import StrataBase
public import StrataLog

/// The result of sealing.
public struct SealReceipt: Sendable, Hashable {
  /// The number of segments that were rewritten.
  package var segmentCount: Int
  /// The size of all closed segments on disk before, in bytes.
  public var bytesBefore: UInt64
  /// The size of all closed segments on disk after, in bytes.
  public var bytesAfter: UInt64
  /// The segments that were left unchanged because a newer version wrote something in them; each says what it is.
  public var kept: [String]
}

extension EventStore {
  /// Closes the active segment, and rewrites every closed segment that is not sealed yet.
  ///
  /// A sealed segment has larger blocks, which are compressed harder, and an index after them. Events, sequences and
  /// chain do not change, and readers are not disturbed.
  ///
  /// - Throws: `damaged` if a segment is not what was written, which is then left unchanged; `full`, and errors of the
  ///   system.
  @discardableResult
  public func seal() async throws(StoreError) -> SealReceipt {
    // On a separate thread: sealing takes long, and the shared threads serve all reads.
    let thread = machine.thread("strata-seal")
    let result = await thread.result { [self] () throws(StoreError) in try sealBlocking() }
    return try result.get()
  }

  /// Seals as `seal()` does, and blocks the calling thread. Do not call it on the cooperative pool.
  @discardableResult
  package func sealBlocking() throws(StoreError) -> SealReceipt {
    let outcome = try log.seal()
    return SealReceipt(
      segmentCount: outcome.sealed, bytesBefore: outcome.bytesBefore, bytesAfter: outcome.bytesAfter,
      kept: outcome.kept.map { "\($0.file) holds \($0.why)" })
  }
}
