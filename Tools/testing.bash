# To be sourced: how tests are built. One build for all of them, optimised, since a hundred thousand power cuts and lists
# take that, and with all assertions on. A folder of its own, so that the release build that people use stays as it is.
# shellcheck disable=SC2034
testing=(-c release -Xswiftc -enable-testing -Xswiftc -assert-config -Xswiftc Debug --scratch-path .build/testing)
