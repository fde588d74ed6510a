// A property: a generator, and what must hold of each of its values.

/// What must hold of every value of a generator.
///
/// ```swift
/// try await Property("reversing twice changes nothing", Gen<Int>.int().array()) { numbers in
///   try ensureEqual(numbers.reversed().reversed(), numbers)
/// }.check()
/// ```
///
/// It fails in a case if its closure throws. It must depend on nothing but the value.
public struct Property<Value> {
  public typealias Body = nonisolated(nonsending) (Value) async throws -> Void

  public typealias Notes = nonisolated(nonsending) (Value, any Error) async -> [String]

  /// What a class of cases is, and how much of them there must be.
  struct Class {
    var label: String
    var required: Double?
    var contains: (Value) -> Bool
  }

  let name: String
  let generator: Gen<Value>
  let body: Body
  var classes: [Class] = []
  var source: (Value) -> String = { swiftSource(of: $0) }
  var notes: Notes = { _, _ in [] }

  /// - Parameters:
  ///   - name: names it in what is printed, and in the folder of failures.
  ///   - body: throws if the property fails, ``Discarded`` if the value says nothing of it.
  public init(_ name: String = #function, _ generator: Gen<Value>, body: @escaping Body) {
    (self.name, self.generator, self.body) = (name, generator, body)
  }

  /// Counts the cases of which the closure is true.
  public func classify(_ label: String, when contains: @escaping (Value) -> Bool) -> Property {
    adding(Class(label: label, required: nil, contains: contains))
  }

  /// Requires that a percentage of the cases is of a class.
  ///
  /// The check runs more cases than its budget says, up to a hundred times as many, until chance can be excluded: it
  /// throws ``CheckError/uncovered(_:percent:required:)`` only where a right generator would have that result once in
  /// 10⁹ runs, and accepts nine tenths of what is required. This is the sequential test of QuickCheck's `checkCoverage`
  /// with Wilson's interval (E. Wilson, "Probable Inference", 1927).
  public func cover(_ label: String, atLeast percent: Double, when contains: @escaping (Value) -> Bool)
    -> Property
  {
    adding(Class(label: label, required: percent, contains: contains))
  }

  /// Prints counterexamples with a closure instead of with ``swiftSource(of:)``.
  public func printed(as source: @escaping (Value) -> String) -> Property {
    var property = self
    property.source = source
    return property
  }

  /// Adds lines to a counterexample, from its value and from what the property threw.
  public func noted(_ notes: @escaping Notes) -> Property {
    var property = self
    property.notes = notes
    return property
  }

  private func adding(_ added: Class) -> Property {
    var property = self
    property.classes.append(added)
    return property
  }
}

/// Checks a property. See ``Property`` and ``Property/check(_:seed:failures:)``.
@discardableResult
public nonisolated(nonsending) func check<Value>(
  _ generator: Gen<Value>, _ budget: Budget = Budget(), seed: UInt64? = nil, failures folder: String? = nil,
  name: String = #function, body: @escaping Property<Value>.Body
) async throws -> CheckReport {
  try await Property(name, generator, body: body).check(budget, seed: seed, failures: folder)
}
