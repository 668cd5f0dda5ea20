#!/bin/sh
# Makes the station on the first start (its first token is in the log), then serves behind the proxy.
set -eu
if [ ! -f /station/data/station.json ]; then
  situs review init /station/data --database "postgresql://situs:$(cat /run/secrets/database)@database/situs"
fi
exec situs review serve /station/data --host 0.0.0.0 --behind-proxy --address "$STATION_ADDRESS" --benches /benches --data /data
