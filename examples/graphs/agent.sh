# Stands in for a coding agent, so that these graphs run anywhere: it is given a prompt on standard
# input and answers with a line. A real one is named in the same way, as command="my-agent --print".
#
#   sh agent.sh        does what it is asked
#   sh agent.sh 2      fails the first two times
cat > /dev/null
times=$((ANEW_VISIT + ANEW_ATTEMPT - 1))
if [ "$times" -le "${1:-0}" ]; then
    echo "the model is overloaded" >&2
    exit 1
fi
echo "$ANEW_STEP is done"
