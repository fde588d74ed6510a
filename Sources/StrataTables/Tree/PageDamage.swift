// What is wrong with bytes of a state or a history.

package import StrataLog

/// Bytes on disk that cannot be what was written: a record of a state or a history, or what it says.
///
/// Nothing is lost by it, since the log has all that they held. So most readers read elsewhere, and note it. What reports
/// it says what to do: delete `derived/`, which is made again.
package struct PageDamage: Error, CustomStringConvertible {
  /// What is wrong, without where.
  package var what: String
  /// Whether nothing is known to be wrong with the file: the program gave it up itself, or the system did not open it.
  package var isWanted = false
  /// What the system said, if it could not open a file of a history, and may be able to later.
  package var refusal: StoreError?
  /// The name of the file in its folder, and where the record begins in it; nil for damage that is not
  /// in one record.
  package private(set) var location: (file: String, offset: UInt64)?

  package init(_ what: String) { self.what = what }

  /// The file was closed because the log needed its room.
  package static var wasEvicted: PageDamage {
    var damage = PageDamage("a page is in a file that gave way to appends on a full disk")
    damage.isWanted = true
    return damage
  }

  package var description: String {
    location.map { "\(what), in \($0.file) at offset \($0.offset)" } ?? what
  }

  /// Runs a body that reads a record, and says of its damage where that is.
  package static func inRecord<Result>(
    of file: @autoclosure () -> String, at offset: UInt64, _ body: () throws(PageDamage) -> Result
  ) throws(PageDamage) -> Result {
    do throws(PageDamage) { return try body() } catch {
      var damage = error
      damage.location = damage.location ?? (file(), offset)
      throw damage
    }
  }
}
