// The changes between two states of a list, untyped: ids as text, sections as the bytes of their keys.

/// The batch before ids and sections get the types of a request.
package typealias ListDiff = ListChanges<String, [UInt8]>
