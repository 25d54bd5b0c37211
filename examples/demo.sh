#!/bin/sh
# One prompt turn of the agent on its embedded model, in a temporary workspace
# and with a configuration of its own. Usage: demo.sh path/to/reasonix
set -eu
reasonix=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/home" "$work/project"
echo "A small project to look at." >"$work/project/README.md"

echo '$ reasonix run --model offline/demo --permission allow "Introduce yourself"'
echo
REASONIX_HOME="$work/home" "$reasonix" run --model offline/demo --cwd "$work/project" --permission allow "Introduce yourself"

cat <<TEXT

That was one prompt turn, behind the same messages that an editor exchanges.
Leave out --permission allow, and you are asked before each write.

In Zed, put this into settings.json, and choose Reasonix in the agent panel:

  "agent_servers": {
    "Reasonix": {
      "type": "custom",
      "command": "$reasonix",
      "args": ["acp", "--model", "offline/demo"]
    }
  }

With acpx, from npm:

  acpx --approve-all --agent '$reasonix acp --model offline/demo' exec 'Introduce yourself'

With a provider of your own: reasonix setup.
TEXT
