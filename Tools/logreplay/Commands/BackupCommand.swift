// `backup`: copies a store, even while another process writes to it; the copy is a store itself.

internal import ArgumentParser
internal import StrataEvents
internal import StrataLog

struct BackupCommand: BlockingCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract:
      "Backs up a store into a folder, even while a writer is running, and checks every block it copies.",
    discussion: """
      The backup is a store itself. It holds the part of the log that was durable when the command began. If the \
      folder already holds a backup of the same store, only new data is copied: whole segments, and the last segment \
      again. After an interrupted backup the folder either still holds the previous backup or is rejected by all \
      commands; run the command again to continue. Indexes and quarantine/ are not copied.

      Exit codes: 65 damage in the store, 68 the folder holds events that the store does not have, 73 the folder \
      holds something other than a backup, 74 the disk is full, 75 a writer has the folder open.
      """)

  @OptionGroup var source: StoreArgument

  @Argument(help: "The folder to write the backup to.")
  var target: String

  @OptionGroup var output: OutputOptions

  func perform() throws {
    try output.refuse(.csv)
    guard !target.isEmpty else {
      throw CommandFailure(
        ExitStatus.usage, "the path of the backup folder is empty", next: "give the path of a folder")
    }
    let (id, backup) = try copy()
    var writer = OutputWriter()
    if output.format.isJSON {
      writer.bytes += backup.json(id: id) + [UInt8(ascii: "\n")]
    } else {
      writer.bytes += backup.text(target: target).utf8
    }
    try writer.flush()
  }

  private func copy() throws(CommandFailure) -> (id: String, StoreBackup) {
    let store: EventStore
    do throws(StoreError) { store = try EventStore.openBlocking(at: source.store, .readOnly) } catch {
      throw CommandFailure(reading: source.store, error)
    }
    let bar = ProgressBar("backup")
    defer { bar.finish() }
    do throws(StoreError) {
      return (store.id, try store.backupBlocking(to: target) { bar.update($0, of: $1) })
    } catch {
      switch error {
      case _ where error.finding != nil: throw CommandFailure(reading: source.store, error)
      case .invalid(let what, _):
        throw CommandFailure(ExitStatus.usage, what, at: target, next: "choose another folder for the backup")
      case .position:
        throw CommandFailure(
          ExitStatus.diverged, "the backup in the folder does not continue with this store's events",
          at: target,
          next: "choose another folder for the backup; nothing in this one was changed")
      default: throw CommandFailure(error)
      }
    }
  }
}

extension StoreBackup {
  func json(id: String) -> [UInt8] {
    var line = JSONLine.document()
    line.field("uuid", id)
    line.field("first", firstSequence)
    line.field("last", head.sequence)
    line.field("chain", LogPosition.hex(head.chain))
    line.field("segments", segments)
    line.field("copied", segmentsCopied)
    line.field("bytes", bytesCopied)
    return line.finish()
  }

  func text(target: String) -> String {
    let events = head.sequence < firstSequence ? "no events" : "events \(firstSequence)…\(head.sequence)"
    return
      "\(events) are in \(PeopleText.printable(target)): \(segmentsCopied) of \(counted(segments, "segment")) copied, "
      + "\(counted(bytesCopied, "byte"))\n"
  }
}
