// `delete`: removes a row from its table.

internal import ArgumentParser
internal import LogreplayShell
internal import StrataEvents

package struct DeleteCommand: SingleWrite {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Deletes a row. Its past stays.",
    discussion: """
      Appends one event, $delete in the stream TABLE/ID. The row is not in the table from then on, and is at every \
      point before; `erase` is what removes content. A row that is not there may be deleted: that is recorded, and \
      changes nothing. Give --expecting exists, or the version that was read, where that would be wrong.

      Exit codes are said in logreplay help put.
      """)

  @OptionGroup var target: StoreArgument

  @Argument(help: "The row: the table, a slash, and the id.")
  var row: String

  @OptionGroup var expecting: ExpectingOption
  @OptionGroup var options: WriteOptions

  func write() throws(CommandFailure) -> ShellWrite {
    let stream = try stream(ofRow: row)
    do throws(WriteRefusal) { return try ShellWrite(.delete, stream, .null, takesAnyID: true) } catch {
      throw error.failure(in: stream.text)
    }
  }
}
