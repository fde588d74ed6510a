// Finds where rows of comma separated values end: at a line feed that is not in quotes.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The position in a row that was looked at so far, and whether that is in quotes.
struct ImportCSVFraming {
  let separator: UInt8
  /// How many bytes of the row were looked at.
  private(set) var searched = 0
  private var state = State.fieldStart
  /// The number of line feeds in quotes so far, and how many bytes of the row are before the last opening quote.
  private(set) var lineFeeds: UInt64 = 0
  private(set) var quoteOffset = 0

  private enum State {
    case fieldStart, plain, quoted
    /// After a quote in quotes, which ends them unless another one follows.
    case quote
  }

  init(separator: UInt8) { self.separator = separator }

  /// Whether what was looked at ends in quotes.
  var isInQuotes: Bool { state == .quoted }

  /// The offset of the line feed that ends the row at the beginning of the bytes; nil if it is not among them.
  mutating func endOfRow(in bytes: UnsafeRawBufferPointer) -> Int? {
    if state != .quoted, state != .quote, let base = bytes.baseAddress {
      // Most rows have no quotes.
      let rest = bytes.count - searched
      let feed = memchr(base + searched, 0x0A, rest).map { UnsafeRawPointer($0) - base }
      let limit = feed ?? bytes.count
      if memchr(base + searched, 0x22, limit - searched) == nil {
        if limit > searched { state = bytes[limit - 1] == separator ? .fieldStart : .plain }
        searched = limit
        return feed
      }
    }
    return search(bytes)
  }

  private mutating func search(_ bytes: UnsafeRawBufferPointer) -> Int? {
    var index = searched
    defer { searched = index }
    while index < bytes.count {
      let byte = bytes[index]
      switch state {
      case .quoted:
        if byte == 0x22 { state = .quote } else if byte == 0x0A { lineFeeds += 1 }
      case .fieldStart where byte == 0x22:
        state = .quoted
        quoteOffset = index
      case .quote where byte == 0x22: state = .quoted
      case .fieldStart, .plain, .quote:
        if byte == 0x0A { return index }
        state = byte == separator ? .fieldStart : .plain
      }
      index += 1
    }
    return nil
  }

  /// Forgets the bytes that were looked at, but not whether they end in quotes.
  mutating func dropSearched() {
    searched = 0
    quoteOffset = 0
  }
}
