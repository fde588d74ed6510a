// The store as a whole: its tables, and a check of it.

internal import LogreplayShell
internal import LogreplayTables
internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// A check that runs, or ran last.
struct StoreCheck {
  var depth: VerifyDepth?
  var isRunning = false
  var done: UInt64 = 0
  var total: UInt64 = 0
  var report: [UInt8]?
  var failure: CommandFailure?
}

extension Inspector {
  /// What the page needs to begin: the store's name, its tables and kept lists, and its ends.
  func store() throws -> [UInt8] {
    try failing { () throws(StoreError) in try log.refresh() }
    let mark = log.mark
    var line = JSONLine.document()
    line.field("path", opened.path)
    line.field("uuid", log.storeID.description)
    line.field("begin", mark.logBegin - 1)
    line.raw("head", head)
    browser.addTables(to: &line)
    line.field("history", browser.hasHistory)
    if let damage = browser.damage { line.raw("damage", damage.members) }
    if log.tornBytes > 0 { line.field("tornBytes", log.tornBytes) }
    return line.finish()
  }

  /// Begins a check with `depth` quick or full, and says how far it is, or what the last one found.
  func check(_ parameters: InspectParameters) throws -> [UInt8] {
    if let text = parameters["depth"] {
      guard let depth: VerifyDepth = ["quick": .quick, "full": .full][text] else {
        throw InspectParameters.failure("depth is quick or full", "depth")
      }
      begin(depth)
    }
    return check.withLock { check in
      var line = JSONLine.document()
      line.field("running", check.isRunning)
      line.field("done", check.done)
      line.field("of", check.total)
      if let report = check.report { line.raw("report", report) }
      if let failure = check.failure { line.raw("error", failure.members) }
      return line.finish()
    }
  }

  /// Begins a check, unless one runs.
  private func begin(_ depth: VerifyDepth) {
    let begins = check.withLock { check in
      defer { if !check.isRunning { check = StoreCheck(depth: depth, isRunning: true) } }
      return !check.isRunning
    }
    guard begins else { return }
    checker.start { [self] in
      let result = Result { () throws(CommandFailure) in
        try browser.check(depth) { [check] done, total in
          check.withLock { ($0.done, $0.total) = (done, total) }
        }
      }
      check.withLock { check in
        check.isRunning = false
        switch result {
        case .success(let report): check.report = report
        case .failure(let failure): check.failure = failure
        }
      }
    }
  }
}
