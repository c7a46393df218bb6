# Represents any program that takes a prompt on standard input and prints its answer.
prompt=$(cat)
echo "I read ${#prompt} characters as $ANEW_STEP, attempt $ANEW_ATTEMPT."
cat > "$ANEW_STATUS_FILE" <<STATUS
{"outcome": "success", "preferred_label": "Request changes", "context_updates": {"findings": 2}}
STATUS
