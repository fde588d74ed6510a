// The names of files in a bucket, page after page.

internal import StrataBase
internal import StrataLog
public import StrataReplica

extension BucketCarrier {
  /// The most names that a list of them is made of.
  static let nameCountMax = 1_000_000
  /// The most pages one after the other without a name: a server that goes on for ever is stopped.
  private static let emptyPagesMax = 100

  /// In little memory: a bucket lists in the order of names. O(numbers), a request for each thousand.
  public func extent() throws(CarrierError) -> CarrierExtent {
    var extent = CarrierExtent()
    try forEachName(in: "log") { name throws(CarrierError) in
      if let number = SegmentName(digits: name)?.firstSequence { extent.add(number) }
    }
    return extent
  }

  public func fileNames(in folder: String) throws(CarrierError) -> [String] {
    var names: [String] = []
    try forEachName(in: folder) { name throws(CarrierError) in
      guard names.count < Self.nameCountMax else {
        throw CarrierError(
          .refused, what: "\(place(of: folder)) has more than \(Self.nameCountMax) files",
          next: "remove what no store has put there")
      }
      names.append(name)
    }
    return names
  }

  /// Passes on the names of a folder, without the folder's name, in their order.
  private func forEachName(
    in folder: String, _ body: (String) throws(CarrierError) -> Void
  ) throws(CarrierError) {
    let begin = Array("\(place.key(folder))/".utf8)
    var previous: [UInt8] = []
    var token: String?
    var emptyPages = 0
    repeat {
      let page = try page(of: folder, after: token)
      emptyPages = page.keys.isEmpty ? emptyPages + 1 : 0
      guard emptyPages < Self.emptyPagesMax else {
        throw .strangeAnswer("a list without an end", place(of: folder))
      }
      for key in page.keys {
        guard key.starts(with: begin) else {
          throw .strangeAnswer("a key of another folder", place(of: folder))
        }
        guard previous.lexicographicallyPrecedes(key) else {
          throw CarrierError(
            .unfit, what: "\(place.bucket) lists keys that are not in the order of their names",
            next: "choose an object store that lists in order: one of directories does not")
        }
        previous = key
        // Other names are not of a store.
        let name = key[begin.count...]
        guard !name.isEmpty, name.allSatisfy({ $0.isLetterOrDigit || "-._".utf8.contains($0) }) else {
          continue
        }
        try body(String(decoding: name, as: UTF8.self))
      }
      token = page.nextToken
    } while token != nil
  }

  private func page(of folder: String, after token: String?) throws(CarrierError) -> ListPage {
    var query = [
      (name: "delimiter", value: "/"), (name: "encoding-type", value: "url"), (name: "list-type", value: "2"),
      (name: "max-keys", value: String(pageLength)), (name: "prefix", value: "\(place.key(folder))/"),
    ]
    if let token { query.append((name: "continuation-token", value: token)) }
    let request = place.request(.get, query: query, answerLengthMax: ListPage.answerLengthMax)
    let answer = try client.read(request, to: "list \(place(of: folder))")
    guard answer.status == 200, !answer.response.isCut else {
      throw .strangeAnswer(
        answer.response.isCut ? "more than \(ListPage.answerLengthMax) bytes" : "the status \(answer.status)",
        place(of: folder))
    }
    do throws(XMLProblem) { return try ListPage(decoding: answer.response.body) } catch {
      throw .strangeAnswer("a list that is \(error)", place(of: folder))
    }
  }
}
