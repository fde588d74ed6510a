// Generators of types that say by Decodable of what they consist.

extension Gen where Value: Decodable & SendableMetatype {
  /// Values of a type by its fields: its `init(from:)` is called with a decoder that draws what it is asked for.
  ///
  /// Strings, numbers, dates, lists, dictionaries and optional values are drawn as the generators of this module draw
  /// them. Of an enum all cases are drawn, with their payloads, as far as the compiler made its `init(from:)`. Where
  /// `init(from:)` throws, the case does not count: so a type that refuses most of what it is given needs a generator
  /// of its own. Values that contain their own type are at most 16 levels deep.
  ///
  /// - Parameter overrides: generators for types of fields, instead of those of this module: for example strings of few
  ///   different values for ids, so that they are equal at times.
  public static func decodable(_ overrides: GenOverride...) -> Gen {
    let table = Dictionary(overrides.map { ($0.type, $0.draw) }) { $1 }
    return Gen { (choices) throws(Rejection) in
      let state = DrawingState(choices: choices.take(), overrides: table)
      defer { choices = state.giveBack() }
      do {
        return try state.draw(Value.self, depth: 0)
      } catch {
        throw (error as? Rejection) ?? .unsuitable
      }
    }
  }
}

/// A generator for all fields of a type. See ``Gen/decodable(_:)``.
public struct GenOverride: Sendable {
  let type: ObjectIdentifier
  let draw: @Sendable (inout Choices) throws(Rejection) -> any Sendable

  /// Draws fields of the generator's type from it.
  public init<Value: Sendable>(_ generator: Gen<Value>) {
    type = ObjectIdentifier(Value.self)
    draw = { (choices) throws(Rejection) in try choices.draw(generator) }
  }
}
