#!/bin/sh
# The checks that only a machine with an NVIDIA GPU can make: tests/gpu/run.sh BUILD [OUT].
#
# BUILD holds bin/borescope and lib/libborescope_record.so. OUT (a folder, $OUT or ./gpu-report) gets three
# files: report.txt for a person, report.json with the same, each check with its expected figure and what was
# measured, and failed.tar.gz with recordings of checks that failed, as far as they are small. All else is
# deleted. What cannot be tried on the machine is skipped, with the reason, also where a program fails without
# recording, too; the status is 1 if a check failed. The checks are ordered by worth, and all of them take about
# 150 s. Options of run.py may follow: --seconds 120 (stop by then, with a report of what was done), --only 2,4,
# --long (longer runs, with the same figures), --work FOLDER (keeps all recordings and programs there).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:?the folder of a build}
shift
case ${1:-} in
  '' | -*) out=${OUT:-gpu-report} ;;
  *) out=$1; shift ;;
esac
exec "${PYTHON:-python3}" "$here/run.py" --build "$build" --out "$out" "$@"
