#!/usr/bin/env bash
# Makes the CA of the event log and the certificates of its nodes where they are missing. With "renew" the nodes get
# new ones from the same CA: those of nodes are good for a year, the CA for five.
# Only this container sees the key of the CA; each node sees its own key; the service sees ca.crt alone.
set -euo pipefail

made=$(mktemp -d)

if [ ! -f /ca-private/ca.key ]; then
  es-gencert-cli create-ca -out "$made/ca"
  cp "$made/ca/ca.crt" /ca-private/
  cp "$made/ca/ca.key" /ca-private/ # last: its presence says that both are there
fi
cp -f /ca-private/ca.crt /ca/ca.crt
chmod 444 /ca/ca.crt

for number in 1 2 3; do
  folder=/node-$number
  if [ -f "$folder/node.key" ] && [ "${1:-}" != renew ]; then continue; fi
  es-gencert-cli create-node -ca-certificate /ca-private/ca.crt -ca-key /ca-private/ca.key -out "$made/$number" \
    -ip-addresses 127.0.0.1 -dns-names "localhost,kurrentdb-$number"
  rm -f "$folder/node.crt" "$folder/node.key"
  cp "$made/$number/node.crt" "$folder/"
  cp "$made/$number/node.key" "$folder/"
  chmod 444 "$folder/node.crt"
  chmod 400 "$folder/node.key"
  chown 1000:1000 "$folder/node.crt" "$folder/node.key" # the user the server runs as
done

rm -rf "$made"
