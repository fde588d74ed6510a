// Copies of a store on other machines: shipped to a folder, followed, restored at a point, and protected from a second
// writer.

@_exported public import StrataEvents
