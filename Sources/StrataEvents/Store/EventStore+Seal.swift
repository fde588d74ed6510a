// Sealing on request; in the background it happens by itself.

internal import StrataBase
public import StrataLog

/// What sealing came to.
public struct SealReceipt: Sendable, Hashable {
  /// Segments that were rewritten.
  public var segmentCount: Int
  /// Bytes of all closed segments on disk before.
  public var bytesBefore: UInt64
  /// The same after.
  public var bytesAfter: UInt64
  /// Segments that were left as they are because a newer version wrote something in them, each with what it is.
  public var kept: [String]
}

extension EventStore {
  /// Closes the active segment, and rewrites every closed one that was not: larger blocks, compressed harder, and an
  /// index behind them. Events, sequences and chain stay as they are, and so do readers.
  ///
  /// - Throws: `damaged` where a segment is not what was written, which is then left as it is; `full` and what the
  ///   system refuses.
  @discardableResult
  public func seal() async throws(StoreError) -> SealReceipt {
    // A thread of its own, as for whatever takes long: the shared ones serve everybody who reads.
    let thread = machine.thread("strata-seal")
    let result = await thread.result { [self] () throws(StoreError) in try sealBlocking() }
    return try result.get()
  }

  /// The same for a thread that may block. Never on the cooperative pool.
  @discardableResult
  public func sealBlocking() throws(StoreError) -> SealReceipt {
    let outcome = try log.seal()
    return SealReceipt(
      segmentCount: outcome.sealed, bytesBefore: outcome.bytesBefore, bytesAfter: outcome.bytesAfter,
      kept: outcome.kept.map { "\($0.file) holds \($0.why)" })
  }
}
