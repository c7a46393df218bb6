# Stands in for an agent, and answers with what it got: who is to work, how much of the run it
# hears of, in which thread, and how often the thread has spoken before.
turns=$(grep -c '^\[assistant\]$')
echo "$ANEW_MODEL ${ANEW_PROVIDER:-any} $ANEW_REASONING_EFFORT, $ANEW_FIDELITY, thread $ANEW_THREAD, $turns earlier"
