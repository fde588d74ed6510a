// `seal`: closes the active segment and rewrites the closed segments so that they take fewer bytes.

internal import ArgumentParser
package import LogreplayShell
package import StrataEvents
package import StrataLog

package struct SealCommand: BlockingCommand {
  static let configuration = CommandConfiguration(
    commandName: "seal",
    abstract: "Closes the active segment, and compresses the closed segments further and indexes them.",
    discussion: """
      Events, sequences and the chain do not change. A store that is open for writing does this in the background, \
      one segment at a time. The command needs disk space for one more segment, and takes the writer's lock.
      """)

  @OptionGroup var target: StoreArgument
  @OptionGroup var wait: LockWaitOptions
  @OptionGroup var output: OutputOptions

  package func perform() throws {
    try output.refuse(.csv)
    let store = try OpenedStore.openForWriting(target.store, wait)
    defer { try? store.closeBlocking() }
    let receipt = try store.sealBlocking()
    var writer = OutputWriter()
    if output.format.isJSON {
      var line = JSONLine.document()
      line.field("sealed", receipt.segmentCount)
      line.field("bytesBefore", receipt.bytesBefore)
      line.field("bytesAfter", receipt.bytesAfter)
      writer.bytes += line.finish() + [UInt8(ascii: "\n")]
    } else {
      writer.bytes +=
        "\(counted(receipt.segmentCount, "segment")) sealed: \(receipt.bytesBefore) bytes before, \(receipt.bytesAfter) after\n"
        .utf8
    }
    try writer.flush()
    for kept in receipt.kept { Terminal.note("logreplay: left as it is: \(PeopleText.printable(kept))") }
    try store.closeBlocking()
  }
}

extension OpenedStore {
  /// Opens an existing store for writing. Does not create a store.
  package static func openForWriting(
    _ path: String, _ wait: LockWaitOptions, _ options: StoreOptions = StoreOptions()
  ) throws(CommandFailure) -> EventStore {
    let timeout = try wait.timeout()
    do throws(StoreError) {
      // Opening for reading reports best what is wrong with a path, and creates nothing.
      try EventStore.openBlocking(at: path, .readOnly).closeBlocking()
      var options = options
      options.sealsInBackground = false
      return try wait.open(path, options, timeout)
    } catch { throw CommandFailure(reading: path, error) }
  }
}
