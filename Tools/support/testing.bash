# To be sourced: how tests are built, and which suites are heavy.
# shellcheck disable=SC2034

# One build for all tests, optimised, since a hundred thousand power cuts and lists take that, and with all assertions on.
# A folder of its own, so that the release build that people use stays as it is.
testing=(
  -c release --scratch-path .build/testing -Xswiftc -enable-testing -Xswiftc -assert-config -Xswiftc Debug
  -Xswiftc -DSTRATA_CHECKED_LOCKS
)

# Power cuts, damage, failing calls and full disks.
cuts='StrataLogTests\.(Crash|Damage|GoldenDamage|FailedCall|FullDisk|BackupCrash|Preallocation|[A-Za-z]*Fault)Tests'
