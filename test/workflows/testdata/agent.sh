#!/bin/sh
# Plays the agent of autofix: it reads the task on its standard input. It either
# reports how sure it is, or makes the change that was decided. It asks no person.
set -eu
task=$(cat)
case $task in
*"Change nothing yet"*)
	cat > "$FERMATA_RESULT" <<'RESULT'
{"result": "completed", "summary": "It can be escaped in two places.", "details": {"confidence": 55, "defaultApproach": "in the template",
 "uncertainQuestion": "Where is the text to be escaped?", "suggestedOptions": ["in the template", "in the model"]}}
RESULT
	;;
*"in the model"*) echo escaped > model.txt && echo "Escaped it in the model." ;;
*) echo escaped > template.txt && echo "Escaped it in the template." ;;
esac
