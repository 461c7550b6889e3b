#!/bin/sh
# Writes what the program of an app is made of, as CycloneDX JSON, to standard output. From the lockfile: nothing
# need be installed.
#
# Usage: sbom.sh <app>
set -eu
cd "$(dirname "$0")/../.."
npm sbom --package-lock-only --sbom-format=cyclonedx --sbom-type=application --omit=dev --workspace="@reroll/$1"
