// Renaming a key of an object.

extension DocumentObject {
  /// Moves a value to another key, and replaces the value there. Does nothing if the object does not have the old key.
  /// O(n).
  public mutating func renameKey(_ old: String, to new: String) {
    guard let value = removeValue(forKey: old) else { return }
    updateValue(value, forKey: new)
  }
}
