// Follows another process's writer: looks at HEAD, and moves the visible mark.

/// A thread that runs while somebody waits at the end of a store that another process may write to.
///
/// It looks at HEAD often, since a look is one small read, and at LOCK once a second, to notice a writer that
/// went away or a new one.
package final class HeadWatcher: Sendable {
  private enum Phase {
    case resting
    case running
    case stopped
  }

  /// Pauses between two looks: short after a change, longer while nothing happens.
  private static let pauseMin: Duration = .milliseconds(1)
  private static let pauseMax: Duration = .milliseconds(20)
  private static let probeInterval: Duration = .seconds(1)

  private let reader: HeadReader
  private let source: LogSource
  private let phase = Gate(Phase.resting)

  init(_ reader: HeadReader, source: LogSource) {
    self.reader = reader
    self.source = source
  }

  /// Starts the thread if it does not run.
  package func start() throws(LogError) {
    let starts = phase.withLock { phase in
      guard phase == .resting else { return false }
      phase = .running
      return true
    }
    guard starts else { return }
    do throws(FileSystemError) {
      _ = try DedicatedThread(name: "strata-follow") { [reader, source, phase] in
        Self.watch(reader, source, phase)
      }
    } catch {
      phase.withLock { $0 = .resting }
      throw LogError(error)
    }
  }

  func stop() {
    phase.withLock { $0 = .stopped }
    phase.signalAll()
  }

  private static func watch(_ reader: HeadReader, _ source: LogSource, _ phase: Gate<Phase>) {
    var reader = reader
    var pause = pauseMin
    var lastProbe = MonotonicTime.now()
    let path = reader.catalog.layout.head
    var epoch = (try? HeadFile.read(reader.catalog.fileSystem, path: path))??.epoch
    while true {
      let isStopped = phase.wait(timeout: pause) { $0 == .stopped }
      if isStopped { return }
      do throws(LogError) {
        let before = source.tail.mark
        var mark: VisibleMark
        if lastProbe.elapsed >= probeInterval {
          mark = try reader.look().mark
          lastProbe = .now()
        } else {
          let head = try LogError.wrapping { () throws(FileSystemError) in
            try HeadFile.read(reader.catalog.fileSystem, path: reader.catalog.layout.head)
          }
          mark = try head.map { head throws(LogError) in try reader.sight(of: head, ifBeyond: before) } ?? before
        }
        if mark.sequence < before.sequence {
          // A writer that has the lock and has not written HEAD yet, or a slot that was just being written: an
          // old HEAD then says less than was found without it. Only a writer of a later epoch can have less.
          let now = try LogError.wrapping { () throws(FileSystemError) in
            try HeadFile.read(reader.catalog.fileSystem, path: path)?.epoch
          }
          if now == epoch || now == nil { mark = before } else { epoch = now }
        }
        if mark.sequence < before.sequence {
          throw .diverged(
            sequence: before.sequence, expected: before.visible.chain, actual: mark.visible.chain)
        }
        if mark != before {
          source.tail.publish(mark)
          pause = pauseMin
        } else {
          pause = min(pause * 2, pauseMax)
        }
      } catch {
        source.tail.finish(error)
        return
      }
    }
  }
}

extension HeadReader {
  /// HEAD's mark, or the old one where HEAD says nothing newer: HEAD may be behind what a reader found while no
  /// writer was alive.
  fileprivate mutating func sight(
    of head: HeadSlot, ifBeyond old: VisibleMark
  ) throws(LogError) -> VisibleMark {
    if head.visible.sequence < old.sequence { return old }
    if head.visible == old.visible, head.durable == old.durable, head.segment == old.segment { return old }
    return try sight(of: head)
  }
}
