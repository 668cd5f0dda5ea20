#!/usr/bin/env bash
# try_wheel.sh PYTHON WHEEL: installs the wheel into an empty environment of this Python and tries the core there.
set -euo pipefail
python=$1 wheel=$(realpath "$2") constraints=$(realpath "$(dirname "$0")/../constraints.txt")
if ! command -v "$python" >/dev/null || ! "$python" -c '' 2>/dev/null; then
  echo "$python: not here, left out"
  exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$python" -m venv "$scratch/venv"
"$scratch/venv/bin/python" -m pip install --quiet --disable-pip-version-check -c "$constraints" "$wheel"
cd "$scratch"
situs=venv/bin/situs
$situs doctor
$situs build phantoms --studies 2 --out bench
$situs check bench
$situs run bench --model random --out run
$situs score bench run
$situs report run --out report.html
echo "$python: $(venv/bin/python -V), core ok"
