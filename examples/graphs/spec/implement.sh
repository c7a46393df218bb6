# Stands in for an agent. It asks to be tried again, then it misses a design, then it is done.
case "$ANEW_VISIT.$ANEW_ATTEMPT" in
    1.1) echo '{"outcome": "retry", "failure_reason": "the tests do not compile yet"}' ;;
    1.*) echo '{"outcome": "needs_design"}' ;;
    *) echo '{"outcome": "success", "context_updates": {"files_changed": 3}}' ;;
esac > "$ANEW_STATUS_FILE"
