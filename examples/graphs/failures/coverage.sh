# Stands in for an agent that covers half of the code the first time, and all of it the second. What
# it thinks of its own work it writes as JSON.
if [ "$ANEW_VISIT" -eq 1 ]; then
    echo '{"outcome": "PARTIAL", "notes": "half of it", "context_updates": {"coverage": 50}}'
else
    echo '{"outcome": "SUCCESS", "context_updates": {"coverage": 100}}'
fi > "$ANEW_STATUS_FILE"
echo "tests were written"
