// The first and the last line of an export.

internal import StrataBase
internal import StrataDocuments

/// What the first line of an export says.
struct EventExportHeader {
  var version: UInt64
  /// The id of the store that was exported.
  var store: String
  var after: UInt64
  var through: UInt64
  /// Whether events of the range were left out.
  var isSelection: Bool
  /// The chain before the first event.
  var chain: UInt64

  /// Whether it has every event from the first one on, and so gives an empty store the same chain.
  var isFromBeginning: Bool { after == 0 && !isSelection }

  init(_ line: UnsafeRawBufferPointer) throws(EventLineProblem) {
    let frame = try EventExportFrame(line)
    version = try frame.number("version")
    guard version <= EventLineFormat.version else {
      throw EventLineProblem(
        column: 1,
        why:
          "the export has version \(version) of event lines, and this program reads up to \(EventLineFormat.version)"
      )
    }
    guard case .string(let store)? = frame.object["store"], store.utf8.count == 36 else {
      throw EventLineProblem(column: 1, why: "\"store\" is not the id of a store")
    }
    self.store = store
    after = try frame.number("after")
    through = try frame.number("through")
    guard after <= through, through < .max else {
      throw EventLineProblem(column: 1, why: "\"through\" is less than \"after\", or no sequence")
    }
    isSelection = frame.object["selection"] != nil
    chain = isSelection ? 0 : try frame.chain()
  }
}

/// What the last line of an export says.
struct EventExportEnd {
  var events: UInt64
  var appends: UInt64
  var chain: UInt64

  init(_ line: UnsafeRawBufferPointer) throws(EventLineProblem) {
    let frame = try EventExportFrame(line)
    events = try frame.number("events")
    appends = try frame.number("appends")
    chain = try frame.chain()
  }
}

/// The members of one of these lines.
struct EventExportFrame {
  let object: DocumentObject

  init(_ line: UnsafeRawBufferPointer) throws(EventLineProblem) {
    let value: DocumentValue
    do throws(JSONError) { value = try DocumentValue(json: line) } catch {
      throw EventLineProblem(column: error.column, why: error.explanation)
    }
    guard case .object(let object) = value else {
      throw EventLineProblem(column: 1, why: "the line is not an object")
    }
    self.object = object
  }

  func number(_ name: String) throws(EventLineProblem) -> UInt64 {
    switch object[name] {
    case .int(let value)? where value >= 0: return UInt64(value)
    case .uint(let value)?: return value
    default: throw EventLineProblem(column: 1, why: "\"\(name)\" is not a number")
    }
  }

  func chain() throws(EventLineProblem) -> UInt64 {
    guard case .string(let text)? = object["chain"], text.utf8.count == 16,
      let chain = UInt64(text, radix: 16), LogPosition.hex(chain) == text
    else { throw EventLineProblem(column: 1, why: "\"chain\" is not 16 hex digits") }
    return chain
  }
}
