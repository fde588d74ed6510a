@main struct Stratabench { static func main() {} }
