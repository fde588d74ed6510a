// What must hold of any store, whatever its bytes are.

internal import StrataBase
internal import StrataLog

/// A store in memory whose files came from a fuzzer.
struct StoreLaws {
  static let root = "/store"
  let fileSystem: MemoryFileSystem
  private let before: [String: [UInt8]]

  init(_ fileSystem: MemoryFileSystem) throws(StoreError) {
    self.fileSystem = fileSystem
    before = try fileSystem.evidence(of: Self.root)
  }

  private static var options: StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.sealsInBackground = false
    return options
  }

  /// Checks the store, reads it in every way, and writes to it where that is allowed.
  func hold() throws(BrokenLaw) {
    do {
      let report = try verify()
      try law(try isUnchanged(), "a check changed something")
      try read(report)
      try law(try isUnchanged(), "reading changed something")
      try write(report)
    } catch let error as BrokenLaw {
      throw error
    } catch {
      throw BrokenLaw("\(error)")
    }
  }

  private func isUnchanged() throws(StoreError) -> Bool {
    try fileSystem.evidence(of: Self.root) == before
  }

  /// The report, or nil where the folder holds no store.
  private func verify() throws(BrokenLaw) -> VerifyReport? {
    var verifier = LogVerifier(fileSystem, path: Self.root)
    do throws(StoreError) { return try verifier.run() } catch {
      if error.reason == .notFound { return nil }
      throw BrokenLaw("a check ends with \(error)")
    }
  }

  /// What a log delivers up to its end or the first damage.
  private func deliver(_ log: Log, checksContent: Bool) throws(BrokenLaw) -> (
    events: UInt64, error: StoreError?
  ) {
    var next = log.mark.logBegin
    var events: UInt64 = 0
    var cursor = log.cursor(after: next - 1)
    do throws(StoreError) {
      while let block = try cursor.next() {
        let header = block.header
        try Self.inOrder(header.firstSequence == next && header.eventCount > 0, header)
        do throws(ContentProblem) {
          if checksContent { try block.verifyContent() }
          try block.forEachEvent { _, _, _ in }
        } catch {
          throw error.storeError(in: "", at: header.ownOffset, first: next, last: next)
        }
        next = header.nextSequence
        events += UInt64(header.eventCount)
      }
      return (events, nil)
    } catch {
      if case .invalid(let what, _) = error { throw BrokenLaw(what) }
      return (events, error)
    }
  }

  private static func inOrder(_ holds: Bool, _ header: BlockHeader) throws(StoreError) {
    if !holds { throw .invalid(what: "a gap or a repetition at \(header.firstSequence)") }
  }

  private func read(_ report: VerifyReport?) throws {
    for readsDamaged in [false, true] {
      var options = Self.options
      options.readsDamaged = readsDamaged
      let log: Log
      do throws(StoreError) { log = try Log.openReader(fileSystem, path: Self.root, options: options) } catch
      {
        let isRight = report.map { ($0.isOK || $0.isOnlyTorn) && $0.segments > 0 } ?? false
        try law(!isRight, "a store without a finding is refused: \(error)")
        continue
      }
      defer { try? log.close() }
      let (events, error) = try deliver(log, checksContent: true)
      if let report, report.isOK || report.isOnlyTorn {
        try law(error == nil, "a store without a finding cannot be read: \(error.map { "\($0)" } ?? "")")
        try law(events == report.events, "\(events) events are delivered, \(report.events) are there")
      }
      try seek(log, isRight: report?.isOK == true)
    }
  }

  /// Seeks by sequence, by number and by time: an answer, nothing or an error, and where nothing is wrong the right one.
  private func seek(_ log: Log, isRight: Bool) throws {
    let mark = log.mark
    for sequence in [mark.logBegin, mark.sequence, mark.sequence / 2, 0, .max] {
      let place = Result { () throws(StoreError) in try log.append(holding: sequence) }
      guard isRight else { continue }
      let exists = sequence >= mark.logBegin && sequence <= mark.sequence
      let found = try place.get()
      try law((found != nil) == exists, "append(holding: \(sequence)) is \(String(describing: found))")
      if let found {
        try law(found.first <= sequence && sequence <= found.last, "another append holds \(sequence)")
        let numbered = try log.append(ordinal: found.ordinal)
        try law(numbered == found, "append \(found.ordinal) is \(String(describing: numbered))")
        let timed = try log.lastAppend(notAfter: found.ownTime)
        try law(
          timed.map { $0.ordinal >= found.ordinal && $0.ownTime <= found.ownTime } ?? false,
          "lost by its time")
      }
    }
    for ordinal in [0, 1, mark.appends, .max] { _ = try? log.append(ordinal: ordinal) }
    for time in [Int64.min, 0, mark.time, .max] { _ = try? log.lastAppend(notAfter: time) }
    let chain = Result { () throws(StoreError) in try log.chain(after: mark.sequence) }
    if isRight { try law(try chain.get() == mark.visible.chain, "the chain at the end is another") }
  }

  private func write(_ report: VerifyReport?) throws {
    let log: Log
    do throws(StoreError) {
      log = try Log.openWriter(fileSystem, path: Self.root, options: Self.options)
    } catch {
      return try law(try isUnchanged(), "a writer that was refused (\(error)) changed something")
    }
    // What only a check finds (in closed segments) keeps no writer from opening; it must change nothing there.
    let isRight = report.map { $0.isOK || $0.isOnlyTorn } ?? true
    let draft = AppendDraft()
    Array("fuzz/1".utf8).withUnsafeBytes { name in
      draft.add(stream: name, type: name, codec: 3, metadata: .init(start: nil, count: 0), payload: name)
    }
    let outcome = Result { () throws(StoreError) in try log.appendBlocking(draft) }
    let head = log.mark.sequence
    if case .success(let outcome) = outcome {
      try law(outcome.last == head, "an acknowledged append is not visible")
      let (events, error) = try deliver(log, checksContent: false)
      if let report, isRight {
        try law(error == nil && events == report.events + 1, "\(events) events: \(error as Any)")
      }
    }
    do throws(StoreError) { try log.close() } catch {
      // A store that can take nothing more may say so at its end too.
      if case .success = outcome { throw BrokenLaw("closing fails: \(error)") }
      return
    }
    guard isRight else {
      let now = try fileSystem.evidence(of: Self.root)
      for (path, bytes) in before where path.hasSuffix(".seg") {
        // A torn tail behind a block whose content is wrong is cut off as any other.
        let place = report?.findings.first { path.hasSuffix($0.file) }.map { Int($0.offset) } ?? bytes.count
        let isKept = now[path]?.starts(with: bytes.prefix(place)) ?? false
        try law(isKept, "a writer changed \(path), in which a check finds something wrong")
      }
      return
    }
    let after = try verify()
    try law(after?.isOK == true || after?.isOnlyTorn == true, "after an append: \(after?.findings as Any)")
    let again = try Log.openReader(fileSystem, path: Self.root, options: Self.options)
    try law(again.mark.sequence == head, "\(again.mark.sequence) is the head after reopening, not \(head)")
    try again.close()
  }
}
