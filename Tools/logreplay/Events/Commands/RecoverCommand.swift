// `recover`: writes what is left of a damaged store into a new one.

internal import ArgumentParser
internal import LogreplayShell
internal import StrataEvents
internal import StrataLog

package struct RecoverCommand: BlockingCommand {
  static let configuration = CommandConfiguration(
    commandName: "recover",
    abstract: "Writes all that can still be read of a damaged store into a new one.",
    discussion: """
      Use it if the store is damaged and no backup has what is missing. Nothing of the damaged store is changed. \
      Every block that is whole is copied, also after damaged ones, and what could not be copied is listed, with its \
      sequences. Events keep their sequences, times and append ids; in place of each lost event the new store has \
      one of the type $lost, which changes nothing. Positions after the first loss, as those of consumers, are not \
      valid in the new one.

      Exit codes: 0 nothing is lost, 3 something is, or may be, and is listed; 65 a file claims impossibly many events, \
      66 there is no store, 69 a newer version wrote the store, 73 something is at the new path, 74 the disk is full, 75 \
      a writer has the store open.
      """)

  @OptionGroup var source: StoreArgument

  @Argument(help: "The folder of the new store, which must not exist.")
  var target: String

  @OptionGroup var output: OutputOptions

  func perform() throws {
    try output.refuse(.csv)
    guard !target.isEmpty else {
      throw CommandFailure(
        ExitStatus.usage, "the path of the new store is empty", next: "give the path of a folder")
    }
    let recovery = try recover()
    var writer = OutputWriter()
    if output.format.isJSON {
      writer.bytes += recovery.json() + [UInt8(ascii: "\n")]
    } else {
      writer.bytes += recovery.text(target: target).utf8
    }
    try writer.flush()
    if !recovery.losses.isEmpty { throw ExitCode(ExitStatus.skipped) }
  }

  private func recover() throws(CommandFailure) -> StoreRecovery {
    let bar = ProgressBar("recover")
    defer { bar.finish() }
    do throws(StoreError) {
      return try EventStore.recoverBlocking(from: source.store, to: target) { bar.update($0, of: $1) }
    } catch { throw CommandFailure(error) }
  }
}

extension StoreRecovery {
  func json() -> [UInt8] {
    var line = JSONLine.document()
    line.field("sequence", head.sequence)
    line.field("events", eventCount)
    line.field("erased", erasedCount)
    line.field("lost", lostCount)
    line.array("losses", losses.map(\.json))
    return line.finish()
  }

  func text(target: String) -> String {
    var text = ""
    for loss in losses {
      let events =
        switch loss.eventCount {
        case 0: "no event is known to be lost"
        case 1: "event \(loss.first) is lost"
        default: "events \(loss.first)…\(loss.last) are lost"
        }
      text += "\(events): \(loss.what) (\(PeopleText.printable(loss.file)) at byte \(loss.offset))\n"
    }
    let erased = erasedCount > 0 ? ", \(erasedCount) had been erased or lost before" : ""
    return text
      + "in \(PeopleText.printable(target)): \(counted(eventCount, "event")), \(lostCount) lost\(erased)\n"
  }
}

extension StoreRecovery.Loss {
  fileprivate var json: [UInt8] {
    var line = JSONLine()
    line.field("file", file)
    line.field("offset", offset)
    line.field("first", first)
    line.field("last", last)
    line.field("what", what)
    return line.finish()
  }
}
