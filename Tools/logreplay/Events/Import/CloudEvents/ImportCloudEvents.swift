// Makes events of CloudEvents 1.0 in the JSON format.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents

/// The rules that the page on moving data lists, for CloudEvents of any program and for those of an export.
struct ImportCloudEvents: ImportRecordMapping {
  var identity: ImportIdentity { .appendID }
  var hasTimes: Bool { true }
  var fields: [ImportFieldPath] { [] }
  var textFields: [ImportFieldPath] { [] }

  func event(of record: UnsafeRawBufferPointer) throws(ImportMappingProblem) -> ImportMappedEvent? {
    guard case .object(let members)? = try? DocumentValue(cbor: record) else {
      throw ImportMappingProblem(nil, "the record is not an object")
    }
    return try Reading(members).event()
  }

  /// One CloudEvent.
  private struct Reading {
    let members: DocumentObject

    init(_ members: DocumentObject) { self.members = members }

    func event() throws(ImportMappingProblem) -> ImportMappedEvent {
      guard try text("specversion") == CloudEvent.version else {
        throw problem("specversion", "the version of CloudEvents is not \(CloudEvent.version)")
      }
      let (source, id, type) = (try required("source"), try required("id"), try required("type"))
      // The first space in an append id ends the source.
      guard !source.utf8.contains(0x20) else { throw problem("source", "a source contains a space") }
      let own = try text(CloudEvent.stream)
      let subject = try text("subject")
      let stream = own ?? Self.stream(source: source, subject: subject)
      var event = ImportMappedEvent(stream: Array(stream.utf8), type: type)
      event.appendID = ImportAppendID.of(Array("\(source) \(id)".utf8))
      let kept = try setData(of: &event, isOwn: own != nil)
      if own != nil { try setRow(of: &event) }
      event.metadata = try metadata(isOwn: own != nil, datacontenttype: kept)
      event.time = try time()
      return event
    }

    /// The source without slashes, and the subject: each pair of them has a stream of its own.
    private static func stream(source: String, subject: String?) -> String {
      var category = source.replacingBytes("%", with: "%25").replacingBytes("/", with: "%2F")
      if category.hasPrefix("$") { category = "%24" + category.dropFirst() }
      return subject.map { "\(category)/\($0)" } ?? category
    }

    /// Says of an event that a store exported as that of a row, that it is one.
    private func setRow(of event: inout ImportMappedEvent) throws(ImportMappingProblem) {
      let kind: ImportRow.Kind
      switch event.type {
      case DocumentEvent.put: kind = .put
      case DocumentEvent.merge: kind = .merge
      case DocumentEvent.delete: kind = .delete
      default: return
      }
      let name = StreamName(String(decoding: event.stream, as: UTF8.self))
      event.row = (kind, name.category)
    }

    // MARK: Data

    /// Sets the payload. Returns the content type, if it says more than the payload itself.
    private func setData(
      of event: inout ImportMappedEvent, isOwn: Bool
    ) throws(ImportMappingProblem) -> String? {
      let type = try text("datacontenttype")
      if let data = members["data"] {
        guard members["data_base64"].map({ $0.isAbsent }) ?? true else {
          throw problem("data_base64", "a CloudEvent has both data and data_base64")
        }
        event.payload = data.cbor()
        if CloudEvent.isJSON(type) { return type == CloudEvent.json ? nil : type }
        guard case .string = data else {
          throw problem("data", "the data are no text, but \(type ?? "") is no JSON")
        }
        return type
      }
      guard let text = try text("data_base64") else { return type }
      guard let bytes = Array(text.utf8).withUnsafeBytes({ Base64.decoded($0) }) else {
        throw problem("data_base64", "the data are not base 64")
      }
      event.payload = bytes
      event.codec = Self.codec(of: bytes, type, isOwn: isOwn).rawValue
      let isSaid = isOwn && [CloudEvent.json, CloudEvent.cbor, CloudEvent.bytes].contains(type)
      return isSaid ? nil : type
    }

    private static func codec(of bytes: [UInt8], _ type: String?, isOwn: Bool) -> PayloadCodec {
      if type == CloudEvent.cbor, isOwn || (try? DocumentValue(cbor: bytes)) != nil { return .cbor }
      guard type != nil, CloudEvent.isJSON(type) else { return .bytes }
      return isOwn || (try? DocumentValue(json: bytes)) != nil ? .json : .bytes
    }

    // MARK: Attributes

    /// The attributes that are not elsewhere in the event, and what an export could not write as attributes.
    private func metadata(
      isOwn: Bool, datacontenttype: String?
    ) throws(ImportMappingProblem) -> [UInt8] {
      var object = DocumentObject()
      if isOwn, let text = try text(CloudEvent.metadata) {
        let bytes = Array(text.utf8).withUnsafeBytes { Base64.decoded($0) }
        guard let bytes, case .object(let more)? = try? DocumentValue(cbor: bytes) else {
          throw problem(CloudEvent.metadata, "the metadata are not base 64 of an object in CBOR")
        }
        object = more
      }
      var elsewhere: Set<String> = ["specversion", "type", "time", "datacontenttype", "data", "data_base64"]
      if isOwn {
        elsewhere.formUnion([
          "source", "id", CloudEvent.stream, CloudEvent.revision, CloudEvent.metadata, CloudEvent.sequence,
        ])
        if try text("subject") == text(CloudEvent.stream) { elsewhere.insert("subject") }
      }
      for (name, value) in members where !elsewhere.contains(name) && !value.isAbsent {
        guard object.updateValue(value, forKey: name) == nil else {
          throw problem(name, "\(name) is an attribute, and in \(CloudEvent.metadata)")
        }
      }
      if let datacontenttype { object["datacontenttype"] = .string(datacontenttype) }
      return object.count == 0 ? [] : DocumentValue.object(object).cbor()
    }

    private func time() throws(ImportMappingProblem) -> Int64? {
      guard let text = try text("time") else { return nil }
      guard let time = Array(text.utf8).withUnsafeBytes({ Timestamp(utf8: $0) }) else {
        throw problem(
          "time", "the time \(String(reflecting: text)) is not in RFC 3339, or not from 1677 to 2262")
      }
      return time.nanoseconds
    }

    /// The text of an attribute; nil if it is missing, or null, which is the same.
    private func text(_ name: String) throws(ImportMappingProblem) -> String? {
      switch members[name] {
      case nil, .null?: return nil
      case .string(let text)?: return text
      default: throw problem(name, "\(name) is not a text")
      }
    }

    private func required(_ name: String) throws(ImportMappingProblem) -> String {
      guard let text = try text(name), !text.isEmpty else {
        throw problem(name, "a CloudEvent has no \(name)")
      }
      return text
    }

    private func problem(_ name: String, _ why: String) -> ImportMappingProblem {
      ImportMappingProblem(ImportFieldPath(name: name), why)
    }
  }
}

extension DocumentValue {
  /// Whether it is null, which is as if the attribute were not there.
  fileprivate var isAbsent: Bool { if case .null = self { true } else { false } }
}
