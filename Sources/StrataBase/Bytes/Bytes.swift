// Access to the bytes of an array for a body with a typed error, and a check for UTF-8.

extension [UInt8] {
  /// Passes the bytes to a body that throws a typed error.
  @inlinable @inline(__always)
  package func lendBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let result = withUnsafeBytes { bytes -> Swift.Result<Result, Failure> in
      do throws(Failure) { return .success(try body(bytes)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Passes the bytes, as mutable bytes, to a body that throws a typed error.
  @inlinable @inline(__always)
  package mutating func lendMutableBytes<Result, Failure: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let result = withUnsafeMutableBytes { bytes -> Swift.Result<Result, Failure> in
      do throws(Failure) { return .success(try body(bytes)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}

extension UnsafeRawBufferPointer {
  /// True if the bytes are well-formed UTF-8.
  @inlinable
  package var isUTF8: Bool {
    if allSatisfy({ $0 < 0x80 }) { return true }
    return String(validating: self, as: UTF8.self) != nil
  }
}
