// The key paths that identify parts of requests.

internal import StrataBase

/// A key path that can be compared and sent between threads.
struct AnyKeyPathBox: Hashable, Sendable {
  let keyPath: any AnyKeyPath & Sendable

  static func == (a: Self, b: Self) -> Bool { (a.keyPath as AnyKeyPath) == (b.keyPath as AnyKeyPath) }
  func hash(into hasher: inout Hasher) { hasher.combine(keyPath as AnyKeyPath) }
}

extension AnyKeyPath {
  /// The key path as text, the same in every process of one build; nil for a computed property, whose text is an address.
  var storedName: String? {
    let text = "\(self)"
    guard !text.contains("<computed") else { return nil }
    return ProgramImage.stable("\(String(reflecting: type(of: self))) \(text)")
  }
}
