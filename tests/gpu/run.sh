#!/bin/sh
# The checks that only a machine with an NVIDIA GPU can make: tests/gpu/run.sh BUILD [OUT].
#
# BUILD holds bin/borescope and lib/libborescope_record.so. OUT (a folder, $OUT or ./gpu-report) gets
# report.json, with each check, its expected figure and what was measured, and the output of nvcc.
# What cannot be tried is skipped, with the reason; the status is 1 if a check failed. The checks are
# ordered by worth, and all of them take about 150 s. Options of run.py may follow: --seconds 120 (stop by
# then, with a report of what was done), --only 2,4, --long (longer runs, with the same figures).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:?the folder of a build}
shift
case ${1:-} in
  '' | -*) out=${OUT:-gpu-report} ;;
  *) out=$1; shift ;;
esac
exec "${PYTHON:-python3}" "$here/run.py" --build "$build" --out "$out" "$@"
