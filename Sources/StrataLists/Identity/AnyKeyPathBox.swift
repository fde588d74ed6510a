// Key paths that requests are told apart by.

/// A key path as a value that may cross threads.
struct AnyKeyPathBox: Hashable, Sendable {
  let keyPath: any AnyKeyPath & Sendable

  static func == (a: Self, b: Self) -> Bool { (a.keyPath as AnyKeyPath) == (b.keyPath as AnyKeyPath) }
  func hash(into hasher: inout Hasher) { hasher.combine(keyPath as AnyKeyPath) }
}
