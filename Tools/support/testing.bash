# To be sourced: the options that tests are built with, and the suites that need many processors.
# shellcheck disable=SC2034

# One build for all tests: optimised, which tens of thousands of power cuts and lists need, and with all assertions on.
# It has its own folder, so that the ordinary release build is not changed.
testing=(
  -c release --scratch-path .build/testing -Xswiftc -enable-testing -Xswiftc -assert-config -Xswiftc Debug
  -Xswiftc -DSTRATA_CHECKED_LOCKS
)

# Power cuts, damage, failing calls and full disks.
cuts='StrataLogTests\.(Crash|Damage|GoldenDamage|FailedCall|FullDisk|BackupCrash|Preallocation|[A-Za-z]*Fault)Tests'
