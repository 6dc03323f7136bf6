#!/bin/sh
# Bring the programs that the tests drive: two browsers, Java and Node, from the system's packages where we may install
# them, and what tests/browser/package-lock.json names, into build/npm.
set -eu
cd "$(dirname "$0")/.."

missing=
# need PACKAGE NAME...: the package is missing if none of the programs is on PATH.
need() {
    package=$1
    shift
    for name; do
        command -v "$name" >/dev/null && return
    done
    missing="$missing $package"
}
need chromium chromium chromium-browser google-chrome
need firefox-esr firefox-esr firefox
need default-jre-headless java
need nodejs node
need npm npm

if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "setup: installing$missing for the browser tests"
        apt-get update -qq
        # shellcheck disable=SC2086 -- a list
        DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $missing >/dev/null
    else
        echo "setup: not on PATH:$missing; the tests that need them are skipped"
    fi
fi

# The copy of the lock is written last, so an install that was cut short is made again.
if command -v npm >/dev/null && ! cmp -s tests/browser/package-lock.json build/npm/done.json; then
    echo "setup: installing the packages of tests/browser/package-lock.json, which takes half a minute"
    rm -rf build/npm
    mkdir -p build/npm
    cp tests/browser/package.json tests/browser/package-lock.json tests/browser/.npmrc build/npm
    (cd build/npm && npm ci --silent --ignore-scripts --no-audit --no-fund)
    cp tests/browser/package-lock.json build/npm/done.json
fi
