// `backup`: copies a store, even while another process writes to it; the copy is a store itself.

internal import ArgumentParser
internal import LogreplayPoints
internal import LogreplayShell
internal import StrataEvents
internal import StrataLog

package struct BackupCommand: BlockingCommand, PointCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract:
      "Backs up a store into a folder, even while a writer is running, and checks every block it copies.",
    discussion: """
      The backup is a store itself. It holds the part of the log that was durable when the command began. If the \
      folder already holds a backup of the same store, only new data is copied: whole segments, and of the last one the \
      new blocks. With --until it ends at a point, and later runs with a later point, or without one, add what is \
      missing. What was erased since is not in such a copy either. After an interrupted backup the folder either still holds the previous backup or is rejected by all \
      commands; run the command again to continue. A signal that ends the command leaves no unfinished copy. Indexes and quarantine/ are not copied.

      Exit codes: 64 a point inside an append, or before the end of the backup in the folder, 65 damage in the store, \
      66 a point that does not exist, 68 the folder holds events that the store does not have, 73 the folder \
      holds something other than a backup, 74 the disk is full, 75 a writer has the folder open.
      """)

  @OptionGroup var source: StoreArgument

  @Argument(help: "The folder to write the backup to.")
  var target: String

  @Option(help: "The point at which the backup ends, the end of an append; see POINTS below. Default: head.")
  var until: String?

  @OptionGroup var output: OutputOptions

  func perform() throws {
    try output.refuse(.csv)
    guard !target.isEmpty else {
      throw CommandFailure(
        ExitStatus.usage, "the path of the backup folder is empty", next: "give the path of a folder")
    }
    let (id, backup) = try copy(until: try end())
    var writer = OutputWriter()
    if output.format.isJSON {
      writer.bytes += backup.json(id: id) + [UInt8(ascii: "\n")]
    } else {
      writer.bytes += backup.text(target: target).utf8
    }
    try writer.flush()
  }

  /// The sequence at which the backup ends; nil for the end of the store.
  private func end() throws -> UInt64? {
    guard let until else { return nil }
    let named = PointRange.Named(text: until, point: try Point(until, times: TimeText(zone: output.zone)))
    let opened = try OpenedStore.open(source.store)
    let resolver = PointResolver(store: opened)
    let end = try resolver.resolve(named).sequence
    if resolver.dependsOnEnd { try opened.reportEnd() }
    try? opened.store.closeBlocking()
    return end
  }

  private func copy(until end: UInt64?) throws(CommandFailure) -> (id: String, StoreBackup) {
    let store: EventStore
    do throws(StoreError) { store = try EventStore.openBlocking(at: source.store, .readOnly) } catch {
      throw CommandFailure(reading: source.store, error)
    }
    let bar = ProgressBar("backup")
    defer { bar.finish() }
    do throws(StoreError) {
      let point = end.map { LogPoint.sequence($0) } ?? .head
      return (
        store.id,
        try store.backupBlocking(to: target, on: NotingFileSystem(), until: point) { bar.update($0, of: $1) }
      )
    } catch {
      switch error {
      case _ where error.finding != nil: throw CommandFailure(reading: source.store, error)
      case .invalid(let what, let next):
        throw CommandFailure(
          ExitStatus.usage, what, at: target, next: end == nil ? "choose another folder for the backup" : next
        )
      case .position(.beyondEnd) where end != nil: throw CommandFailure(error)
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
