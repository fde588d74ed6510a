// `merge`: changes some fields of a row.

internal import ArgumentParser
internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents

package struct MergeCommand: SingleWrite {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Changes some fields of a row, by a merge patch (RFC 7396).",
    discussion: """
      Appends one event, $merge in the stream TABLE/ID. A field that is null in the patch is removed, objects are \
      merged, and everything else replaces what the row has. A row that is not there is made of the patch alone: give \
      --expecting exists, or the version that was read, where that would be wrong.

      What holds for documents and exit codes is said in logreplay help put.
      """)

  @OptionGroup var target: StoreArgument

  @Argument(help: "The row: the table, a slash, and the id.")
  var row: String

  @Argument(help: "The patch: a JSON object, @FILE, or - for standard input.")
  var patch: String

  @Flag(help: "Take a patch whose field id is another one than the row's.")
  var anyID = false

  @OptionGroup var expecting: ExpectingOption
  @OptionGroup var options: WriteOptions

  func write() throws(CommandFailure) -> ShellWrite {
    let stream = try stream(ofRow: row)
    let patch = try ShellJSON.document(patch, rounds: options.roundNumbers)
    do throws(WriteRefusal) { return try ShellWrite(.merge, stream, patch, takesAnyID: anyID) } catch {
      throw error.failure(in: stream.text)
    }
  }
}
