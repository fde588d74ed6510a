// `backup`: a copy of a store that is a store itself, made while others write.

internal import ArgumentParser
internal import StrataEvents
internal import StrataLog

struct BackupCommand: BlockingCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copies a store into a folder, beside a running writer too, and checks every block on the way.",
    discussion: """
      The copy is the log as it was durable when the command began, and a store itself. Into a folder that holds a \
      backup of the same store only what is new is copied: whole segments, and the last one anew. A backup that was \
      interrupted is refused by all commands, or is what it was before; run the command again, and it goes on. \
      Indexes and quarantine/ are not copied. It ends with 65 for damage in the store, 68 where the folder holds \
      events that the store does not, 73 where it holds something else, 74 where the disk is full, and 75 where a \
      writer has the folder.
      """)

  @OptionGroup var source: StoreArgument

  @Argument(help: "The folder for the backup.")
  var target: String

  @OptionGroup var output: OutputOptions

  func perform() throws {
    try output.refuse(.csv)
    guard !target.isEmpty else {
      throw CommandFailure(
        ExitStatus.usage, "the folder for the backup has no name", next: "give the path of a folder")
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
          ExitStatus.diverged, "the backup there does not go on with this store's events", at: target,
          next: "choose another folder for the backup; what stands there was not touched")
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
      "\(events) are in \(PeopleText.printable(target)): \(segmentsCopied) of \(segments) segments copied, "
      + "\(bytesCopied) bytes\n"
  }
}
