// What put, merge, delete and append have in common: one event, one append, one receipt.

internal import ArgumentParser
internal import LogreplayPoints
internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

/// A command that appends one event.
protocol SingleWrite: BlockingCommand {
  var target: StoreArgument { get }
  var options: WriteOptions { get }
  var expecting: ExpectingOption { get }

  /// The write, without metadata and expected version.
  func write() throws(CommandFailure) -> ShellWrite
}

extension SingleWrite {
  func perform() throws {
    let receipt = try execute()
    var writer = OutputWriter()
    writer.bytes +=
      (options.output.format.isJSON ? receipt.json : Array(receipt.short(options.output.people.text).utf8))
      + [UInt8(ascii: "\n")]
    try writer.flush()
    if receipt.write.kind == .delete, receipt.version == 1, !receipt.outcome.isKnown {
      let stream = PeopleText.printable(receipt.write.stream.text)
      Terminal.note("logreplay: the store had no event of \(stream); that it is deleted is recorded")
    }
  }

  /// Appends the event, without printing the receipt. Everything is read and checked before the store is opened.
  func execute() throws(CommandFailure) -> WriteReceipt {
    try options.check()
    let (id, given) = (try options.idBytes(), try options.givenTime())
    let metadata = try options.metadataObject()
    let expected = try expecting.version()
    var write = try write()
    (write.metadata, write.expected) = (metadata, expected)
    var append = ShellAppend(StoreOptions())
    do throws(WriteRefusal) { try append.add(write) } catch { throw error.failure(in: write.stream.text) }
    let draft = append.draft(id: id, given: given)
    return try ShellStore.with(target.store, options) { store throws(CommandFailure) in
      do throws(StoreError) {
        let outcome = try store.log.appendBlocking(draft)
        let recorded = try store.appendBlocking(holding: outcome.last)
        let version = recorded?.events.last { $0.stream == write.stream }?.revision ?? 0
        return WriteReceipt(outcome: outcome, write: write, version: version, id: options.id)
      } catch { throw CommandFailure(writing: error, to: target.store) }
    }
  }

  /// The row that an argument names.
  func stream(ofRow text: String) throws(CommandFailure) -> StreamName {
    do throws(WriteRefusal) { return try ShellWrite.row(text) } catch { throw error.failure(of: text) }
  }
}

extension CommandFailure {
  /// The error of an append.
  init(writing error: StoreError, to path: String) {
    guard case .conflict(_, _, let actual) = error else {
      self.init(reading: path, error)
      return
    }
    self.init(error)
    next = "read what has changed, and write again expecting version \(actual)"
    numbers = [("version", actual)]
  }
}
