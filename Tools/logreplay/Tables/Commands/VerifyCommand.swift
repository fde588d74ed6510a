// `verify`: checks that a store still holds what was written.

internal import ArgumentParser
internal import LogreplayEvents
internal import LogreplayShell
internal import StrataEvents
internal import StrataLog
internal import StrataPast
internal import StrataReplica
internal import StrataTables

package struct VerifyCommand: BlockingCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks a store and reports what is wrong, where, and what to do about it.",
    discussion: """
      The command only reads. It may run while a writer is running; it then checks what was visible when it began.

      Exit codes: 0 no problem, 2 nothing that was acknowledged is lost (a torn tail, or damage to what is made again \
      from the log), 65 damage to the log or to an object of --against, 68 --expect-chain does not match, or the store \
      of --against has other events or has erased others, 69 data written by a newer version.
      """)

  @OptionGroup var target: StoreArgument

  @Flag(help: "Check only headers, and the blocks of the last segment.")
  var quick = false

  @Flag(
    help:
      "Also read all that is saved of tables and histories, and compare indexes and tables of documents with the log."
  )
  var deep = false

  @Option(
    help:
      "Also check that the log has this chain at a sequence, given as SEQ@CHAIN, or at its end, given as CHAIN."
  )
  var expectChain: String?

  @Option(
    help:
      "Also compare each event with the copy at this URL, such as file:/path; see logreplay help replicate.")
  var against: String?

  @OptionGroup var output: OutputOptions

  func perform() throws {
    try output.refuse(.csv)
    guard !(quick && deep) else {
      throw CommandFailure(ExitStatus.usage, "--quick and --deep cannot be combined", next: "choose one")
    }
    let expectation = try expectation()
    let report = try check()
    // Of a damaged log the chain says nothing more.
    let compared = report.exitCode == 0 || report.exitCode == ExitStatus.torn ? expectation : nil
    let verdict = compared?.verdict(on: target.store)
    let copy = try comparison(report)
    var writer = OutputWriter()
    if output.format.isJSON {
      writer.bytes += report.json(verdict, copy) + [UInt8(ascii: "\n")]
    } else {
      let people = PeopleText(zone: output.zone, isColored: output.isColored)
      writer.bytes += report.text(verdict, people: people).utf8
      if let copy { writer.bytes += copy.report.text(PeopleText.printable(copy.place)).utf8 }
    }
    try writer.flush()
    if let error = verdict?.error { throw error }
    if let copy, copy.isFollower, copy.report.lag > 0 {
      throw CommandFailure(
        ExitStatus.diverged,
        "the place has lost \(counted(copy.report.lag, "event")) that this copy has from there",
        at: copy.place, next: "put back what the place has lost, or take over here and ship to another place")
    }
    if let copy, !copy.report.isSame {
      throw CommandFailure(
        ExitStatus.diverged, "events are erased in one of the two and not in the other", at: copy.place,
        next: "open the store and ship it, which erases in the copy; a store that lacks an order follows it")
    }
    if report.exitCode != 0 { throw ExitCode(report.exitCode) }
  }

  /// Nil where nothing is to be compared, also because the store is damaged.
  private func comparison(_ report: VerifyReport) throws -> (
    place: String, report: CarrierCheck.Report, isFollower: Bool
  )? {
    guard let against else { return nil }
    let carrier = try CarrierName.carrier(against)
    guard report.exitCode == 0 || report.exitCode == ExitStatus.torn else { return nil }
    let opened = try OpenedStore.open(target.store)
    defer { try? opened.store.closeBlocking() }
    let bar = ProgressBar("against")
    defer { bar.finish() }
    do throws(StoreError) {
      let compared = try CarrierCheck(opened.log, carrier).run { bar.update($0, of: $1) }
      return (carrier.name, compared, opened.log.replica?.role == .follower)
    } catch { throw CommandFailure(error) }
  }

  private func expectation() throws(CommandFailure) -> ExpectedChain? {
    try expectChain.map { text throws(CommandFailure) in try ExpectedChain(text) }
  }

  private func check() throws(CommandFailure) -> VerifyReport {
    let bar = ProgressBar("verify")
    defer { bar.finish() }
    var report: VerifyReport
    do throws(StoreError) {
      var verifier = LogVerifier(PosixFileSystem(), path: target.store, depth: quick ? .quick : .full) {
        bar.update($0, of: $1)
      }
      report = try verifier.run()
      if deep {
        report.findings += try IndexVerifier(PosixFileSystem(), path: target.store)
          .run(skipping: Set(report.findings.map(\.file)))
      }
    } catch { throw CommandFailure(reading: target.store, error) }
    if deep, let opened = try open(report) {
      do throws(StoreError) {
        report.findings += try StateVerifier(opened.log).run()
        report.findings += try HistoryVerifier(opened.log).run()
      } catch { throw opened.failure(error) }
    }
    return report
  }

  /// The store; nil if it cannot be opened because of what was found in it.
  private func open(_ report: VerifyReport) throws(CommandFailure) -> OpenedStore? {
    do throws(CommandFailure) { return try OpenedStore.open(target.store) } catch {
      let isDamage = error.code == ExitStatus.corrupt || error.code == ExitStatus.unsupported
      guard isDamage, !report.isFine else { throw error }
      return nil
    }
  }
}

extension VerifyReport {
  /// Whether nothing is to be done about what was found.
  var isFine: Bool { findings.allSatisfy(\.isHarmless) }

  /// The exit code for the worst finding: damage to the log, then data of a newer version, then a torn tail and damage to
  /// derived files.
  var exitCode: Int32 {
    if isFine { return 0 }
    let ofLog = findings.filter { !$0.isDerived && $0.class != .torn }
    if ofLog.isEmpty { return ExitStatus.torn }
    let isOnlyUnsupported = ofLog.allSatisfy { $0.class == .unsupported }
    return isOnlyUnsupported ? ExitStatus.unsupported : ExitStatus.corrupt
  }

  /// - Parameter verdict: nil if no chain was expected, or damage says enough.
  func json(
    _ verdict: ExpectedChain.Verdict?,
    _ copy: (place: String, report: CarrierCheck.Report, isFollower: Bool)? = nil
  ) -> [UInt8] {
    var checked = JSONLine()
    checked.field("segments", segments)
    checked.field("blocks", blocks)
    checked.field("events", events)
    var line = JSONLine.document()
    line.field("ok", isFine && verdict?.error == nil)
    switch verdict {
    case .expected: line.field("chainMatches", true)
    case .other: line.field("chainMatches", false)
    case .unknown, nil: break
    }
    line.raw("checked", checked.finish())
    line.array("findings", findings.map(\.json))
    if let copy { line.raw("against", copy.report.json(copy.place)) }
    return line.finish()
  }

  /// A line for each finding with what is wrong, where, and what to do; then a line with what was checked.
  func text(_ chain: ExpectedChain.Verdict?, people: PeopleText) -> String {
    var text = ""
    for finding in findings {
      let range = finding.last >= finding.first ? ", events \(finding.first)…\(finding.last)" : ""
      let isMild = finding.class == .torn || finding.isDerived
      let name = people.colored(finding.class.rawValue, isMild ? .yellow : .red)
      let what = "\(finding.what) (\(finding.file) at byte \(finding.offset)\(range)); \(finding.next)"
      text += "\(name): \(PeopleText.printable(what))\n"
    }
    let verdict =
      switch chain {
      case .other: people.colored("another chain", .red)
      case .unknown: people.colored("chain not read", .red)
      case .expected, nil: isFine ? people.colored("ok", .green) : counted(findings.count, "finding")
      }
    let counts = [counted(segments, "segment"), counted(blocks, "block"), counted(events, "event")]
    return text + "\(verdict): \(counts.joined(separator: ", "))\n"
  }
}

extension StoreFinding {
  fileprivate var json: [UInt8] {
    var line = JSONLine()
    line.field("class", `class`.rawValue)
    line.field("file", file)
    line.field("offset", offset)
    line.field("first", first)
    line.field("last", last)
    line.field("what", what)
    line.field("next", next)
    return line.finish()
  }
}
