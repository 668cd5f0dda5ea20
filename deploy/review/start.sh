#!/bin/sh
# Makes the station on the first start (its first token is in the log), then serves behind the proxy.
set -eu
if [ ! -f /station/data/station.json ]; then
  # In an address, the / @ : # and % of a password are written by their codes.
  password=$(python -c 'import sys, urllib.parse; print(urllib.parse.quote(sys.stdin.read().rstrip("\n"), safe=""))' < /run/secrets/database)
  situs review init /station/data --database "postgresql://situs:$password@database/situs"
fi
exec situs review serve /station/data --host 0.0.0.0 --behind-proxy --address "$STATION_ADDRESS" --benches /benches --data /data
