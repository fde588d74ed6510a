// Files that do not fit into memory: uploads in parts.

internal import StrataBase
public import StrataReplica

extension BucketCarrier {
  private static let partCountMax = 10_000
  /// The largest part, in bytes, and so the memory that an upload takes.
  private static let partSizeMax = 64 << 20
  private static let uploadIDLengthMax = 2048

  /// In parts of 8 to 64 MiB, of which one is in memory; one request if the file is not larger than a part. Readers see
  /// the file when the last request has been answered.
  public func replaceFile(
    _ name: String, size: Int64,
    from read: (UnsafeMutableRawBufferPointer, _ offset: Int64) throws(CarrierError) -> Void
  ) throws(CarrierError) {
    precondition(size >= 0, "a file has a length")
    guard size > Int64(partSize) else { return try replaceFile(name, bytes(at: 0, Int(size), from: read)) }
    let partSize = try partSize(for: size, name)
    let upload = try beginUpload(name)
    do throws(CarrierError) {
      var tags: [String] = []
      for offset in stride(from: 0, to: size, by: partSize) {
        let part = try bytes(at: offset, Int(min(size - offset, Int64(partSize))), from: read)
        tags.append(try uploadPart(tags.count + 1, of: name, upload, part))
      }
      try completeUpload(of: name, upload, tags)
    } catch {
      // What is left of it is in no list, and costs money until it is removed.
      _ = try? client.read(
        place.request(.delete, place.key(name), query: [(name: "uploadId", value: upload)]),
        to: "give up the upload of \(place(of: name))")
      throw error
    }
  }

  private func bytes(
    at offset: Int64, _ count: Int,
    from read: (UnsafeMutableRawBufferPointer, _ offset: Int64) throws(CarrierError) -> Void
  ) throws(CarrierError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    guard count > 0 else { return bytes }
    try bytes.lendMutableBytes { buffer throws(CarrierError) in try read(buffer, offset) }
    return bytes
  }

  /// The size of all parts but the last one, such that there are not too many.
  func partSize(for size: Int64, _ name: String) throws(CarrierError) -> Int {
    let needed = (size - 1) / Int64(Self.partCountMax) + 1
    guard needed <= Int64(Self.partSizeMax) else {
      throw CarrierError(
        .refused, what: "\(place(of: name)) would have \(size) bytes, more than an upload in parts can have",
        next: "nothing: no segment of a store is as large")
    }
    return max(partSize, Int(needed))
  }

  private func beginUpload(_ name: String) throws(CarrierError) -> String {
    let answer = try client.read(
      place.request(
        .post, place.key(name), query: [(name: "uploads", value: "")]),
      to: "begin the upload of \(place(of: name))")
    var upload: String?
    do throws(XMLProblem) {
      try XMLScanner.read(answer.response.body, root: "InitiateMultipartUploadResult") { path, text in
        if path.count == 2, path[1] == "UploadId" { upload = text }
      }
    } catch { throw .strangeAnswer("an upload that is \(error)", place(of: name)) }
    guard let upload, (1...Self.uploadIDLengthMax).contains(upload.utf8.count) else {
      throw .strangeAnswer("no upload", place(of: name))
    }
    return upload
  }

  private func uploadPart(
    _ number: Int, of name: String, _ upload: String, _ bytes: [UInt8]
  ) throws(CarrierError) -> String {
    let answer = try client.read(
      place.request(
        .put, place.key(name),
        query: [(name: "partNumber", value: String(number)), (name: "uploadId", value: upload)], body: bytes),
      to: "upload part \(number) of \(place(of: name))")
    guard answer.isSuccess, let tag = answer.response.headers["etag"],
      tag.utf8.allSatisfy({ $0.isVisible && !"<>&".utf8.contains($0) })
    else { throw .strangeAnswer("no tag of part \(number)", place(of: name)) }
    return tag
  }

  private func completeUpload(
    of name: String, _ upload: String, _ tags: [String]
  ) throws(CarrierError) {
    var parts = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
    for (index, tag) in tags.enumerated() {
      parts += "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(tag)</ETag></Part>"
    }
    parts += "</CompleteMultipartUpload>"
    let answer = try client.read(
      place.request(
        .post, place.key(name), query: [(name: "uploadId", value: upload)],
        headers: [(name: "Content-Type", value: "application/xml")], body: Array(parts.utf8),
        patience: .seconds(300)),
      to: "complete the upload of \(place(of: name))")
    // A server that takes long sends its status before it knows, so the answer may be an error nevertheless.
    do throws(XMLProblem) {
      guard answer.isSuccess else { throw .unexpected }
      try XMLScanner.read(answer.response.body, root: "CompleteMultipartUploadResult") { _, _ in }
    } catch {
      throw CarrierError(
        .unreachable,
        what:
          "the upload of \(place(of: name)) was not completed: the server answered \(answer.status), and not with a file",
        next: "write the file again")
    }
  }
}
