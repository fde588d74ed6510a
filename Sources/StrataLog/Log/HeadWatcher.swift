// Follows another process's writer: looks at HEAD, and moves the visible mark.

/// A thread for a store that another process may write to: it begins when somebody first waits at the end, and
/// goes on until the store is closed.
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
    while true {
      let isStopped = phase.wait(timeout: pause) { $0 == .stopped }
      if isStopped { return }
      do throws(LogError) {
        let before = source.tail.mark
        let mark: VisibleMark
        if lastProbe.elapsed >= probeInterval {
          mark = try reader.probe(beyond: before)
          lastProbe = .now()
        } else {
          let head = try LogError.wrapping { () throws(FileSystemError) in
            try HeadFile.read(reader.catalog.fileSystem, path: reader.catalog.layout.head)
          }
          mark =
            try head.map { head throws(LogError) in try reader.sight(of: head, ifBeyond: before) } ?? before
        }
        if mark.sequence < before.sequence { throw before.diverged(to: mark.visible) }
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
  /// The visible end, with a look at LOCK.
  fileprivate mutating func probe(beyond old: VisibleMark) throws(LogError) -> VisibleMark {
    let (isAlive, head) = try state()
    if isAlive, let head { return try sight(of: head, ifBeyond: old) }
    // A writer replaces HEAD before it appends, so behind the same HEAD nothing is new.
    if let head, head == settledHead { return old }
    let mark = try look().mark
    let after = try state()
    settledHead = !after.isAlive && after.head == head ? head : nil
    return mark
  }

  /// HEAD's mark, or the old one where HEAD says nothing newer. HEAD may be behind what a reader found while no
  /// writer was alive, until the next writer has opened the store: that one then promises it too.
  fileprivate mutating func sight(
    of head: HeadSlot, ifBeyond old: VisibleMark
  ) throws(LogError) -> VisibleMark {
    if head.visible.sequence < old.sequence {
      guard head.epoch > epoch else { return old }
      throw old.diverged(to: head.visible)
    }
    if head.visible == old.visible, head.durable == old.durable, head.segment == old.segment { return old }
    return try sight(of: head)
  }
}

extension VisibleMark {
  /// The error where what was visible is not there any more.
  fileprivate func diverged(to mark: LogMark) -> LogError {
    .diverged(sequence: sequence, expected: visible.chain, actual: mark.chain)
  }
}
