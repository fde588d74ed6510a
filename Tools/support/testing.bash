# To be sourced: the options that tests are built with, and the suites that need many processors.
# shellcheck disable=SC2034

# One build for all tests: optimised, which tens of thousands of power cuts and lists need, and with all assertions on.
# It has its own folder, so that the ordinary release build is not changed.
testing=(
  -c release --scratch-path .build/testing -Xswiftc -enable-testing -Xswiftc -assert-config -Xswiftc Debug
  -Xswiftc -DSTRATA_CHECKED_LOCKS
)

# Most modules of tests, and the tools, are not optimised, since that takes much of the time of a build, and they spend
# theirs in the modules that they test or call. The tests of the log, which compare all that is left of a damaged store
# with models, would take twice as long, and are. A package cannot say so of a target: the driver calls the compiler
# through this script instead. It names the compiler by its path, since it is also called without an
# environment.
compiler=$(swiftc -print-target-info | sed -n 's|.*"runtimeResourcePath": "\(.*\)/lib/swift".*|\1/bin/swift-frontend|p')
if [ -x "$compiler" ]; then
  mkdir -p .build
  cat >.build/testing-compiler <<END
#!/bin/sh
for argument; do
  case "\$before \$argument" in
    "-module-name StrataLogTests") ;;
    "-module-name "*Tests | "-module-name stratabench") set -- "\$@" -Onone ;;
    "-module-name logreplay" | "-module-name LogreplayShell") set -- "\$@" -Onone ;;
    "-module-name LogreplayEvents" | "-module-name LogreplayTables") set -- "\$@" -Onone ;;
  esac
  before=\$argument
done
exec "$compiler" "\$@"
END
  chmod +x .build/testing-compiler
  export SWIFT_DRIVER_SWIFT_FRONTEND_EXEC=$PWD/.build/testing-compiler
fi

# Power cuts, damage, failing calls and full disks.
cuts='StrataLogTests\.(Crash|Damage|GoldenDamage|FailedCall|FullDisk|BackupCrash|Preallocation|[A-Za-z]*Fault)Tests'
