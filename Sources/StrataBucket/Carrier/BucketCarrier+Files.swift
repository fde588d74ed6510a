// The files of a bucket beside its objects: notes, segments and manifests.

internal import StrataBase
public import StrataReplica

extension BucketCarrier {
  public func createFile(_ name: String, _ bytes: [UInt8]) -> CarrierAnswer {
    create(name, bytes).map { .stopped(count: 0, $0) } ?? .stored
  }

  public func replaceFile(_ name: String, _ bytes: [UInt8]) throws(CarrierError) {
    let answer = try client.read(
      place.request(.put, place.key(name), body: bytes), to: "write \(place(of: name))")
    guard answer.isSuccess else { throw .strangeAnswer("the status \(answer.status)", place(of: name)) }
  }

  public func readFile(
    _ name: String, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(CarrierError) -> Int? {
    precondition(offset >= 0, "a file begins at 0")
    let path = place.key(name)
    guard buffer.count > 0 else {
      let answer = try client.read(place.request(.head, path), to: "look at \(place(of: name))")
      return answer.isMissing ? nil : 0
    }
    let (end, isBeyond) = offset.addingReportingOverflow(Int64(buffer.count) - 1)
    let range = "bytes=\(offset)-\(isBeyond ? .max : end)"
    let answer = try client.read(
      place.request(.get, path, headers: [(name: "Range", value: range)], answerLengthMax: buffer.count),
      to: "read \(place(of: name))")
    let body = answer.response.body
    switch answer.status {
    case 404: return nil
    // The file ends at the offset, or before it.
    case 416: return 0
    case 206:
      guard let found = ContentRange(answer.response.headers["content-range"] ?? ""), found.first == offset,
        found.length == Int64(body.count), !answer.response.isCut,
        body.count == buffer.count || found.first + found.length == found.total
      else { throw .strangeAnswer("bytes that are not those of the range", place(of: name)) }
    default:
      // A server that ignores the range sends the whole file.
      guard answer.status == 200, offset == 0, !answer.response.isCut else {
        throw CarrierError(
          .unfit, what: "the server ignores which bytes of \(place(of: name)) are asked for",
          next: "choose an object store that answers requests for a range")
      }
    }
    buffer.copyBytes(from: body)
    return body.count
  }

  /// One request for each file.
  public func removeFiles(_ names: [String], in folder: String) throws(CarrierError) {
    for name in names {
      let path = "\(folder)/\(name)"
      let answer = try client.read(place.request(.delete, place.key(path)), to: "remove \(place(of: path))")
      guard answer.isSuccess || answer.isMissing else {
        throw .strangeAnswer("the status \(answer.status)", place(of: path))
      }
    }
  }
}

/// Which bytes of a file an answer has: `bytes 0-99/1234`.
struct ContentRange: Equatable {
  let first: Int64
  let length: Int64
  let total: Int64

  init?(_ text: String) {
    guard text.hasPrefix("bytes ") else { return nil }
    let halves = text.dropFirst("bytes ".count).split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2, let total = Int64(halves[1]) else { return nil }
    let bounds = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2, let first = Int64(bounds[0]), let last = Int64(bounds[1]), first >= 0,
      last >= first, last < total
    else { return nil }
    self.first = first
    self.total = total
    length = last - first + 1
  }
}
