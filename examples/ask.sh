#!/bin/sh
# A whole agent in a few lines of shell: it asks which format to use, stops,
# and writes the file when it is resumed. docs/reference/worker.md has the contract.
set -eu

answer=$(sed -n 's/.*"answer":"\([a-z]*\)".*/\1/p' "$FERMATA_CONTEXT" | head -n 1)

if [ -z "$answer" ] && grep -q '"pending":' "$FERMATA_CONTEXT"; then
    # A person wrote a message, and the question is still open. An agent that
    # understands text would reply; this one continues to wait.
    echo '{"result": "needs_input", "summary": "Read the message; the question is still open."}' >"$FERMATA_RESULT"
    exit 0
fi

if [ -z "$answer" ]; then
    cat >"$FERMATA_RESULT" <<'EOF'
{"result": "needs_input", "summary": "The format of the file is for people to decide.",
 "question": {"question": "Which format shall the configuration file have?", "timeout": "never",
              "options": [{"value": "toml", "recommended": true}, {"value": "json"}]}}
EOF
    exit 0
fi

echo '::progress Writing the file'
case $answer in
toml) echo 'port = 8080' >config.toml ;;
json) echo '{"port": 8080}' >config.json ;;
esac
echo "{\"result\": \"completed\", \"summary\": \"Wrote config.$answer\"}" >"$FERMATA_RESULT"
