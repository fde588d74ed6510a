// Saving states on request.

internal import StrataBase
public import StrataEvents
public import StrataLog
package import StrataTables

/// What a checkpoint of one projection wrote.
public struct StateCheckpoint: Sendable, Hashable {
  /// The projection's name; `$documents` for the documents.
  public var projection: String
  /// The last event that is in the saved state.
  public var sequence: UInt64
  /// The bytes that were written; 0 if the state was on disk already.
  public var byteCount: UInt64
  /// The pages that were written.
  public var pageCount: Int
}

extension EventStore {
  /// Saves the tables of the documents, and of each projection that this object was asked for, so that the next open
  /// need not fold the log up to here.
  ///
  /// There is rarely a reason to call it: states are saved in the background, and by `close` and `suspend`. O(log), and
  /// O(what changed since a state was last saved) if that is in memory. Runs on a separate thread.
  ///
  /// Throws what folding throws. If a projection halts at an event that it cannot apply, its state is saved up to that
  /// event, and so are the others, before the error is thrown. Throws `full` and `unavailable` if a state could not be
  /// written, and `invalid` if a page of it can be read neither from the disk nor from the log; that loses nothing.
  @discardableResult
  public func checkpoint() async throws -> [StateCheckpoint] {
    let thread = machine.thread("strata-checkpoint")
    let result = await thread.result { [self] () throws(StoreError) in try checkpointBlocking() }
    return try result.get()
  }

  /// Saves states as `checkpoint()` does, and blocks the calling thread. Do not call it on the cooperative pool.
  @discardableResult
  public func checkpointBlocking() throws(StoreError) -> [StateCheckpoint] {
    try checkpointBlocking(keeping: nil)
  }

  /// Saves states as `checkpointBlocking()` does.
  ///
  /// - Parameters:
  ///   - list: one of a table of the documents that is saved with it.
  ///   - dropped: the name of a saved list of a table of the documents that is given up.
  ///   - progress: called from time to time while the documents' tables are folded and the kept list is built.
  @discardableResult
  package func checkpointBlocking(
    keeping list: (table: String, definition: ViewDefinition)?,
    dropping dropped: (table: String, name: String)? = nil,
    progress: ((StateProgress) -> Void)? = nil
  ) throws(StoreError) -> [StateCheckpoint] {
    guard !log.isReadOnly else { throw .readOnly }
    let documents = projector(.documents(only: nil))
    var made: [StateCheckpoint] = []
    var halt: StoreError?
    for (kept, _) in projectors.inUse {
      guard let name = kept.checkpoints?.projectionName else { continue }
      let projector = projector(kept.folding)
      let isOfDocuments = projector === documents
      let written: Checkpoints.Written?
      do throws(StoreError) {
        written = try projector.save(
          isForced: true, keeping: isOfDocuments ? list : nil, dropping: isOfDocuments ? dropped : nil,
          progress: isOfDocuments ? progress : nil)
      } catch {
        guard error.reason == .halted else { throw error }
        halt = halt ?? error
        continue
      }
      made.append(
        StateCheckpoint(
          projection: name, sequence: written?.sequence ?? projector.published.sequence,
          byteCount: written?.bytes ?? 0, pageCount: written?.pages ?? 0))
    }
    if let halt { throw halt }
    return made.sorted { $0.projection < $1.projection }
  }
}
