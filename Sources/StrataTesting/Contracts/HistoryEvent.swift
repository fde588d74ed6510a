// An event of a generated history, and how it is written in Swift.

public import StrataCheck
public import StrataDocuments
public import StrataEvents
internal import StrataLog

/// An event of an ``EventHistory``.
public struct HistoryEvent: Sendable, SwiftSourceConvertible {
  /// The event, or why its value could not be encoded.
  let event: Result<NewEvent, StoreError>
  public let swiftSource: String

  /// An event that represents a value.
  public init<Event: DomainEvent>(_ value: Event, in stream: StreamName) {
    event = Result { () throws(StoreError) in
      let (type, payload) = try value.encoded()
      return NewEvent(type, in: stream, payload: payload)
    }
    let source = StrataCheck.swiftSource(of: value)
    // A case needs the name of its type; an initialiser has it.
    let written = source.hasPrefix(".") ? "\(Event.self)\(source)" : source
    swiftSource = "HistoryEvent(\(written), in: \(StrataCheck.swiftSource(of: stream.text)))"
  }

  /// An event of any type: one that an older version of the program wrote.
  public init(type: String, in stream: StreamName, json: String) {
    event = Result { () throws(StoreError) in
      do throws(JSONError) { return NewEvent(type, in: stream, try DocumentValue(json: json)) } catch {
        throw .invalid(what: "the payload of an event of type \(type) is no JSON: \(error)")
      }
    }
    let texts = [type, stream.text, json].map { StrataCheck.swiftSource(of: $0) }
    swiftSource = "HistoryEvent(type: \(texts[0]), in: \(texts[1]), json: \(texts[2]))"
  }
}
