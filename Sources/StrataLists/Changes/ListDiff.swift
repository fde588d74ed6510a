// What changed between two states of a list, untyped: ids as text, sections as the bytes of their keys.

/// The batch as it is found, before ids and sections have the types of a request.
package typealias ListDiff = ListChanges<String, [UInt8]>
